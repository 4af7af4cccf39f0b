package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Real processes under a lease that are killed, and that stand still past it. */
class KilledHolderTest {
    private static final int ROUNDS = Boolean.getBoolean("postroom.long") ? 30 : 3;
    private static final Duration LEASE = Duration.ofSeconds(3);

    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        // Drawn when it is inserted; transactions of two holders must not overlap at all.
        database.execute("create table trace (id bigint generated always as identity, node bigint, fence bigint)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static ChildJvm start(String name, Duration lease, String what) {
        return ChildJvm.start(
                HolderMain.class, List.of("-Xmx96m"), database.url(), name, Long.toString(lease.toMillis()), what);
    }

    private static long holder(String name) {
        return database.queryLong(
                "select coalesce(max(split_part(node, ':', 2)::bigint), 0) from postroom.lease where name = '" + name
                        + "' and leased_until > clock_timestamp()");
    }

    /** Three nodes; whoever has the lease is killed, or stands still and comes back when another has it. */
    @Test
    void noTwoHoldersHaveOneFenceAndNoneCommitsAfterItsSuccessorBegan() throws Exception {
        List<ChildJvm> nodes = new ArrayList<>();
        List<ChildJvm> frozen = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                nodes.add(start("race", LEASE, "run"));
            }
            for (int round = 0; round < ROUNDS; round++) {
                ChildJvm holding = awaitTrace(nodes);
                if (round % 2 == 0) {
                    holding.kill();
                    nodes.remove(holding);
                    nodes.add(start("race", LEASE, "run"));
                } else {
                    holding.freeze();
                    frozen.add(holding);
                }
                awaitTrace(nodes.stream().filter(each -> each != holding).toList());
                for (ChildJvm each : frozen) {
                    each.thaw();
                }
                frozen.clear();
            }
        } finally {
            nodes.forEach(ChildJvm::close);
        }
        assertThat(database.queryLong("select count(distinct fence) from trace"))
                .isGreaterThan(ROUNDS);
        assertThat(
                        database.queryLong(
                                "select count(*) from (select fence from trace group by fence having count(distinct node) > 1) as f"))
                .as("fences with two holders")
                .isZero();
        assertThat(
                        database.queryLong(
                                "select count(*) from (select fence < lag(fence) over (order by id) as back from trace) as t where back"))
                .as("traces that a former holder left after its successor")
                .isZero();
    }

    /** Waits until one of them has the lease and leaves traces. */
    private static ChildJvm awaitTrace(List<ChildJvm> nodes) throws Exception {
        ChildJvm[] found = new ChildJvm[1];
        long last = database.queryLong("select coalesce(max(id), 0) from trace");
        Patience.await("one of " + nodes + " leaves a trace", () -> {
            long pid = holder("race");
            found[0] =
                    nodes.stream().filter(each -> each.pid() == pid).findFirst().orElse(null);
            return found[0] != null
                    && database.queryLong("select count(*) from trace where id > " + last + " and node = " + pid) > 1;
        });
        return found[0];
    }

    @Test
    void aZombieChangesNothing() throws Exception {
        try (ChildJvm child = start("zombie", Duration.ofMinutes(5), "once")) {
            long fence = Long.parseLong(child.awaitLine("fence ", Patience.LONG).split(" ")[1]);
            child.say("go");
            child.awaitLine("committed", Patience.LONG);
            child.freeze();
            runOut("zombie");
            try (Lease next = awaitLease("zombie")) {
                assertThat(next.fence()).isGreaterThan(fence);
                child.thaw();
                child.say("go");
                child.awaitLine("refused lock.lease-lost", Patience.LONG);
                assertThat(next.isHeld()).isTrue();
            }
            assertThat(database.queryLong("select count(*) from trace where fence = " + fence))
                    .isEqualTo(1);
        }
    }

    /** Its session is ended, what it had changed with it, and then another gets the lease. */
    @Test
    void oneThatStandsStillInATransactionThatHasMadeSureOfItsLeaseKeepsItForAWhileOnly() throws Exception {
        try (ChildJvm child = start("frozen", Duration.ofSeconds(10), "freeze")) {
            long fence = Long.parseLong(child.awaitLine("fence ", Patience.LONG).split(" ")[1]);
            child.say("go");
            child.awaitLine(CrashPoint.lineOf("sure"), Patience.LONG);
            runOut("frozen");
            try (Lease next = awaitLease("frozen")) {
                assertThat(next.fence()).isGreaterThan(fence);
                child.thaw();
                child.awaitLine("refused ", Patience.LONG);
                assertThat(database.queryLong("select count(*) from trace where fence = " + fence))
                        .isZero();
                assertThat(next.isHeld()).isTrue();
            }
        }
    }

    /** It stands still for as long as that takes, without our waiting for it. */
    private static void runOut(String name) {
        database.execute("update postroom.lease set leased_until = clock_timestamp() where name = '" + name + "'");
    }

    private static Lease awaitLease(String name) throws Exception {
        Lease[] lease = new Lease[1];
        Patience.await("lease " + name, () -> {
            lease[0] = database.postroom()
                    .locks()
                    .tryLease(name, Duration.ofMinutes(5))
                    .orElse(null);
            return lease[0] != null;
        });
        return lease[0];
    }
}
