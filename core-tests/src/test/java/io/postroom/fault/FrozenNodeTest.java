package io.postroom.fault;

import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.externalcall.ExternalOperation;
import io.postroom.maintenance.PartitionKeeper;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Nodes that stand still in the middle of transactions whose locks others wait for. Relays, jobs and schedules have tests of their own. */
class FrozenNodeTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final byte[] HASH = new byte[32];

    /** What a node does, and the statement after which it stands still. */
    private record Stop(String statement, String schema, Consumer<Postroom> work) {
        Stop(String statement, Consumer<Postroom> work) {
            this(statement, "postroom", work);
        }
    }

    @Test
    void losesItsSessionWhereOthersWaitForIt() {
        try (TestDatabase database = TestDatabase.create()) {
            UUID redrive = database.postroom()
                    .deadLetters()
                    .redrives()
                    .request(RedriveRequest.discard(DeadLetterFilter.ofIds(1L))
                            .actor("ann")
                            .reason("a test")
                            .build())
                    .request()
                    .id();
            ExternalOperation known = ExternalOperation.of("charge", "t1", "known");
            database.postroom().externalCalls().begin(known, HASH);
            List<Stop> stops = List.of(
                    new Stop(
                            "as allowance",
                            node -> node.deadLetters().redrives().step(redrive)),
                    new Stop(
                            "external_call (key, name",
                            node -> node.externalCalls().begin(ExternalOperation.of("charge", "t1", "new"), HASH)),
                    new Stop(
                            "external_call\nwhere key",
                            node -> node.externalCalls().begin(known, HASH)),
                    new Stop("archive_step(", node -> node.archive().step(Duration.ofDays(30))),
                    new Stop("keep_partitions(", node -> new PartitionKeeper(node.database()).keep()),
                    new Stop("set checksum", "other", node -> node.migrations().migrate()));
            stops.forEach(stop -> freeze(database, stop));
            Deadline.await(
                    () -> "PostgreSQL ends their sessions; left are "
                            + database.queryLong(
                                    "select count(*) from pg_stat_activity where state = 'idle in transaction'"
                                            + " and datname = current_database()"),
                    PATIENCE,
                    () -> database.queryLong("select count(*) from pg_stat_activity where state = 'idle in transaction'"
                                    + " and datname = current_database()")
                            == 0);
        }
    }

    private static void freeze(TestDatabase database, Stop stop) {
        CrashPoint point = CrashPoint.hold(stop.statement(), 1);
        Postroom node = Postroom.builder(new CrashingDataSource(database.dataSource())
                        .after(text -> text.contains(stop.statement()), point))
                .schema(stop.schema())
                .build();
        Thread thread = new Thread(() -> stop.work().accept(node), "frozen");
        thread.setDaemon(true);
        thread.start();
        Deadline.await(stop.statement() + " is reached", PATIENCE, () -> point.times() > 0);
    }
}
