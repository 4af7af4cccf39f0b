package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.List;

/** Indexes that serve nobody, and sequences that come to their end. */
final class ObjectChecks {
    static final int PERCENT_MAX = 80;
    static final int PERCENT_FULL = 95;

    private final Schema schema;
    private final Server.Login login;
    private final Notes notes;
    private final Sql listInvalidIndexes;
    private final Sql listSequences;

    ObjectChecks(Schema schema, Server.Login login, Notes notes) {
        this.schema = schema;
        this.login = login;
        this.notes = notes;
        listInvalidIndexes = schema.sql(ObjectChecks.class, "list_invalid_indexes.sql");
        listSequences = schema.sql(ObjectChecks.class, "list_sequences.sql");
    }

    void indexes(Connection tx) {
        listInvalidIndexes.on(tx).set("schema", schema.name()).list(row -> {
            String name = row.getString("name");
            notes.add(Finding.warning(
                    Check.INVALID_INDEX,
                    "index " + name + " of " + row.getString("table_name")
                            + " is not valid: it costs every write and serves no read",
                    "build it again",
                    Fix.of(Fix.Risk.HEAVY, "reindex index concurrently " + quoted(name))));
            return name;
        });
    }

    private record Sequence(String name, long last, long max, boolean isSeen) {
        long percent() {
            return Math.round(100.0 * last / max);
        }
    }

    void sequences(Connection tx) {
        List<Sequence> sequences = listSequences
                .on(tx)
                .set("schema", schema.name())
                .list(row -> new Sequence(
                        row.getString("name"),
                        row.getLong("last_value"),
                        row.getLong("seqmax"),
                        row.getBoolean("seen")));
        if (sequences.stream().anyMatch(sequence -> !sequence.isSeen())) {
            notes.unchecked(
                    Check.SEQUENCES,
                    "this login may not read sequences",
                    "grant select on all sequences in schema " + Names.quoted(schema.name()) + " to "
                            + Names.quoted(login.name()));
        }
        for (Sequence sequence : sequences) {
            if (sequence.percent() >= PERCENT_MAX) {
                notes.add(new Finding(
                        Check.SEQUENCES,
                        sequence.percent() >= PERCENT_FULL ? Severity.ERROR : Severity.WARNING,
                        "sequence " + sequence.name() + " is at " + sequence.last() + " of " + sequence.max()
                                + ", the limit is " + PERCENT_MAX + " %: at its end every insert fails",
                        "let it go on",
                        Fix.of(
                                Fix.Risk.HARMLESS,
                                "alter sequence " + quoted(sequence.name()) + " as bigint no maxvalue")));
            }
        }
    }

    private String quoted(String name) {
        return schema.fill("/*schema*/") + Names.quoted(name);
    }
}
