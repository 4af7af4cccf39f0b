package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.RecordingSink;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A redrive whose process stands still in the middle of a step, with the rows of lanes locked. */
class FrozenRedriveTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(9);
    private static final int LANES = 2;
    private static final String STATEMENT = "put_back.sql";
    private static final int LETTERS = 10;

    @Test
    void losesItsSessionAndRelaysGoOnRenewing() throws Exception {
        RecordingSink sink = new RecordingSink();
        try (Graveyard yard = new Graveyard().subscribe("billing", LANES)) {
            yard.settle("billing", yard.publishMany("o", LETTERS));
            yard.bury("billing", "true");
            UUID id = yard.redrives
                    .request(yard.redriveOf("billing").build())
                    .request()
                    .id();
            try (Relay relay = yard.database
                            .postroom()
                            .relay()
                            .lease(LEASE)
                            .deliver(Subscription.named("billing").lanes(LANES).build(), sink)
                            .build();
                    ChildJvm child = ChildJvm.start(
                            RedriveMain.class, List.of("-Xmx96m"), yard.database.url(), id.toString(), STATEMENT)) {
                relay.start();
                child.awaitLine(CrashPoint.lineOf(STATEMENT), DEADLINE);
                await(
                        "it holds the lanes and says nothing",
                        () -> yard.one("with free as (select from postroom.lane for update skip locked)"
                                                + " select count(*) from free")
                                        == 0
                                && yard.one("select count(*) from pg_stat_activity where state = 'idle in transaction'"
                                                + " and datname = current_database()")
                                        == 1);
                long frozenMicros = yard.one("select (extract(epoch from clock_timestamp()) * 1000000)::bigint");
                await(
                        "the leases are renewed",
                        () -> yard.one("select count(*) from postroom.lane where leased_until - interval '"
                                        + LEASE.toSeconds() + " seconds' > to_timestamp(" + frozenMicros
                                        + " / 1000000.0)")
                                == LANES);
                yard.publishMany("new", 5);
                sink.awaitAccepted(5, DEADLINE);
                assertThat(yard.one("select count(*) from postroom.lane where fence = 1"))
                        .as("lanes that were never lost")
                        .isEqualTo(LANES);
                assertThat(yard.count("dead_letter", "resolution is not null")).isZero();
                assertThat(yard.redrives.run(id, now -> {}).done()).isEqualTo(LETTERS);
                sink.awaitAccepted(5 + LETTERS, DEADLINE);
                child.thaw();
                assertThat(child.awaitExit(DEADLINE)).as(child::toString).isNotZero();
            }
            assertThat(sink.accepted()).hasSize(5 + LETTERS).doesNotHaveDuplicates();
            assertThat(yard.count("dead_letter", "resolution = 'redriven'")).isEqualTo(LETTERS);
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
