package io.postroom.server.dev;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.EnumSet;
import java.util.Set;

/** What is broken, as everybody who takes part in the demo sees it: one method per statement, no decisions. Never commits. */
final class FaultTable {
    private final Sql putFault;
    private final Sql removeFault;
    private final Sql listFaults;

    FaultTable() {
        Schema demo = new Schema("demo");
        putFault = demo.sql(FaultTable.class, "put_fault.sql");
        removeFault = demo.sql(FaultTable.class, "remove_fault.sql");
        listFaults = demo.sql(FaultTable.class, "list_faults.sql");
    }

    /** Whether it was not broken before. */
    boolean put(Connection tx, Fault fault) {
        return putFault.on(tx).set("name", fault.word()).update() > 0;
    }

    /** Whether it was broken. */
    boolean remove(Connection tx, Fault fault) {
        return removeFault.on(tx).set("name", fault.word()).update() > 0;
    }

    Set<Fault> list(Connection tx) {
        Set<Fault> faults = EnumSet.noneOf(Fault.class);
        listFaults
                .on(tx)
                .list(row -> row.getString(1))
                .forEach(word -> Fault.of(word).ifPresent(faults::add));
        return faults;
    }
}
