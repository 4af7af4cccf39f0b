package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Relays with a projection in processes of their own, killed with SIGKILL while traffic goes on: the sums are exact. */
class KilledProjectionTest {
    private static final int KEYS = 30;
    private static final int LANES = 4;
    private static final int KILLS = Boolean.getBoolean("postroom.long") ? 40 : 4;
    private static final Duration LEASE = Duration.ofMillis(1_500);

    /** How many messages there are for each relay that dies. */
    private static final int MESSAGES = 200;

    /** In the transaction that applies a batch, and in the one that applies a message again. */
    private static final List<String> STEPS = List.of(
            "kill before enter_lane.sql 2",
            "kill after enter_lane.sql 2",
            "kill before advance.sql 2",
            "kill after advance.sql 2",
            "kill committed advance.sql 2",
            "kill after accept.sql 1",
            "kill committed accept.sql 1");

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void eachMessageTakesEffectOnceInTheOrderOfItsKeyWhenRelaysAreKilled() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        History history = new History();
        List<Child> relays = new ArrayList<>();
        try (TestDatabase database = TestDatabase.create();
                Writers writers = new Writers(
                        database.dataSource(),
                        database.postroom(),
                        history,
                        KEYS,
                        seed,
                        0.01,
                        Writers.Style.PLAIN,
                        Writers.Style.EARLY_XID,
                        Writers.Style.ROLLBACK,
                        Writers.Style.BATCH)) {
            Writers.createAccounts(database.dataSource(), KEYS);
            createLedger(database);
            relays.add(start(database, 0, ""));
            relays.add(start(database, 1, ""));
            writers.start(4);
            for (int kill = 0; kill < KILLS; kill++) {
                Child victim = relays.get(kill);
                long before = database.queryLong("select count(*) from ledger");
                Deadline.await(
                        "the victim has lanes and work goes on",
                        PATIENCE,
                        () -> lanes(database, victim) > 0
                                && database.queryLong("select count(*) from ledger") > before + 20);
                victim.jvm().kill();
                relays.add(start(database, relays.size(), ""));
            }
            writers.stop();
            long committed = history.acknowledgedCount();
            Deadline.await(
                    "all " + committed + " have taken effect",
                    PATIENCE,
                    () -> database.queryLong("select count(*) from ledger") >= committed);
            for (Child relay : relays.subList(KILLS, relays.size())) {
                relay.jvm().say("stop");
                relay.jvm().awaitLine("stopped", PATIENCE);
            }
            assertExact(database, "seed " + seed + ", " + committed + " committed");
        } finally {
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    /** One after the other dies at its step; whoever comes next goes on with what that left behind. */
    @Test
    void eachMessageTakesEffectOnceWhereverARelayDies() throws Exception {
        List<Child> relays = new ArrayList<>();
        try (TestDatabase database = TestDatabase.create()) {
            createLedger(database);
            for (String step : STEPS) {
                publish(database, Messages.ofManyKeys(step, MESSAGES));
                Child relay = start(database, relays.size(), step);
                relays.add(relay);
                assertThat(relay.jvm().awaitExit(PATIENCE)).as(step).isEqualTo(CrashPoint.EXIT_CODE);
                relay.jvm().awaitLine(CrashPoint.lineOf(step), PATIENCE);
            }
            Child last = start(database, relays.size(), "");
            relays.add(last);
            Deadline.await(
                    "all have taken effect",
                    PATIENCE,
                    () -> database.queryLong("select count(*) from ledger") >= (long) MESSAGES * STEPS.size()
                            && database.queryLong("select count(*) from postroom.delivery") == 0);
            last.jvm().say("stop");
            last.jvm().awaitLine("stopped", PATIENCE);
            assertExact(database, "each step once");
        } finally {
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    /** It stands still in the middle of its transaction, others take its lanes, and then it goes on. */
    @ParameterizedTest
    @ValueSource(
            strings = {"freeze after enter_lane.sql 2", "freeze before advance.sql 2", "freeze after advance.sql 2"})
    void aRelayThatFreezesWhileItAppliesMessagesDoesNotApplyThemToo(String step) throws Exception {
        List<Child> relays = new ArrayList<>();
        try (TestDatabase database = TestDatabase.create()) {
            createLedger(database);
            publish(database, Messages.ofManyKeys("k", MESSAGES));
            Child frozen = start(database, 0, step);
            relays.add(frozen);
            frozen.jvm().awaitLine(CrashPoint.lineOf(step), PATIENCE);
            Child next = start(database, 1, "");
            relays.add(next);
            Deadline.await(
                    "the other has applied them",
                    PATIENCE,
                    () -> lanes(database, frozen) == 0
                            && database.queryLong("select count(*) from ledger") >= MESSAGES
                            && database.queryLong("select count(*) from postroom.delivery") == 0);
            frozen.jvm().thaw();
            publish(database, Messages.ofManyKeys("k", MESSAGES));
            Deadline.await(
                    "both go on", PATIENCE, () -> database.queryLong("select count(*) from ledger") >= 2 * MESSAGES);
            for (Child relay : relays) {
                relay.jvm().say("stop");
                relay.jvm().awaitLine("stopped", PATIENCE);
            }
            assertExact(database, step);
        } finally {
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    private static void publish(TestDatabase database, List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private static void createLedger(TestDatabase database) {
        database.execute(
                "create table ledger (n bigint generated always as identity, id uuid, key text, version bigint, position bigint)",
                "create table balance (key text primary key, messages bigint)");
    }

    private static void assertExact(TestDatabase database, String run) {
        assertThat(database.queryLong("select count(*) from ledger"))
                .as("%s: none twice, none missing", run)
                .isEqualTo(database.queryLong("select count(*) from postroom.outbox"));
        assertThat(database.queryLong("select count(*) from postroom.outbox where id not in (select id from ledger)"))
                .as("%s: missing", run)
                .isZero();
        assertThat(database.queryLong(
                        "select count(*) from (select position, lag(position) over (partition by key order by n)"
                                + " as before from ledger) as entry where before >= position"))
                .as("%s: out of order", run)
                .isZero();
        assertThat(
                        database.queryLong(
                                "select count(*) from balance full join (select key, count(*) as messages from ledger"
                                        + " group by key) as sum using (key) where balance.messages is distinct from sum.messages"))
                .as("%s: wrong balances", run)
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isZero();
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    /** A relay in a process of its own. */
    private record Child(ChildJvm jvm, UUID id) {}

    private static long lanes(TestDatabase database, Child relay) {
        return database.queryLong("select count(*) from postroom.lane where owner = '" + relay.id() + "'");
    }

    private static Child start(TestDatabase database, int number, String step) throws InterruptedException {
        ChildJvm jvm = ChildJvm.start(
                ProjectionMain.class,
                List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                database.url(),
                "projection-" + number,
                Integer.toString(LANES),
                Long.toString(LEASE.toMillis()),
                step);
        String line = jvm.awaitLine(text -> text.startsWith("started "), "its start", PATIENCE);
        return new Child(jvm, UUID.fromString(line.substring("started ".length())));
    }
}
