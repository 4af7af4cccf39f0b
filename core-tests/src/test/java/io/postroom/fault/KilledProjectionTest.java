package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.inbox.Acceptance;
import io.postroom.inbox.Received;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Relays with a projection in processes of their own, killed with SIGKILL while traffic goes on: the sums are exact. */
class KilledProjectionTest {
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final int KEYS = 30;
    private static final int LANES = 8;
    private static final int KILLS = LONG ? 40 : 2;
    private static final int ROUNDS = LONG ? 10 : 1;
    private static final Duration LEASE = Duration.ofMillis(1_500);

    /** How many messages there are for each relay that dies. */
    private static final int MESSAGES = 80;

    /**
     * In the transaction that applies a batch, and in the one that applies a message again, as whoever comes next does one by one with those that
     * were in the dead one's hands. Each relay has more lanes than it has steps here: one lane stands still at each, and then it is killed.
     */
    private static final List<List<String>> STEPS = List.of(
            List.of(
                    "hold before enter_lane.sql 2",
                    "hold after enter_lane.sql 2",
                    "hold before advance.sql 2",
                    "hold after advance.sql 2",
                    "hold committed advance.sql 2"),
            List.of("hold after accept.sql 1", "hold committed accept.sql 1"));

    /** The same around what its inbox accepts. */
    private static final List<String> STEPS_BEHIND_AN_INBOX = List.of(
            "hold before inbox/accept.sql 2",
            "hold after inbox/accept.sql 2",
            "hold after advance.sql 2",
            "hold committed inbox/accept.sql 2");

    /** A relay that freezes in the middle of its transactions, later goes on with them. */
    private static final List<String> FROZEN =
            List.of("wait after enter_lane.sql 2", "wait before advance.sql 2", "wait after advance.sql 2");

    private static final String CONSUMER = "ledger";
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
                        0.03,
                        Writers.Style.PLAIN,
                        Writers.Style.EARLY_XID,
                        Writers.Style.ROLLBACK,
                        Writers.Style.BATCH)) {
            Writers.createAccounts(database.dataSource(), KEYS);
            createLedger(database);
            relays.add(start(database).begin());
            relays.add(start(database).begin());
            writers.start(4);
            for (int kill = 0; kill < KILLS; kill++) {
                Child victim = relays.get(kill).started();
                relays.add(start(database).begin());
                long before = database.queryLong("select count(*) from ledger");
                Deadline.await(
                        "the victim has lanes and work goes on",
                        PATIENCE,
                        () -> lanes(database, victim) > 0
                                && database.queryLong("select count(*) from ledger") > before + 20);
                victim.jvm().kill();
            }
            writers.stop();
            long committed = history.acknowledgedCount();
            Deadline.await(
                    "all " + committed + " have taken effect",
                    PATIENCE,
                    () -> database.queryLong("select count(*) from ledger") >= committed);
            stop(relays.subList(KILLS, relays.size()));
            assertExact(database, "seed " + seed + ", " + committed + " committed");
        } finally {
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    /** One after the other dies at its steps; whoever comes next goes on with what that left behind. */
    @Test
    void eachMessageTakesEffectOnceWhereverARelayDies() throws Exception {
        List<Child> relays = new ArrayList<>();
        try (TestDatabase database = TestDatabase.create()) {
            createLedger(database);
            for (int round = 0; round < ROUNDS; round++) {
                for (List<String> steps : STEPS) {
                    relays.add(start(database, "", steps));
                }
                for (List<String> steps : STEPS) {
                    publish(database, Messages.ofManyKeys("step", MESSAGES));
                    killAt(
                            relays.get(relays.size() - STEPS.size() + STEPS.indexOf(steps))
                                    .begin(),
                            steps);
                }
                // What is left behind goes one by one, and later messages of its keys behind it: without the batches
                // that the next round needs.
                Child heir = start(database).begin();
                relays.add(heir);
                long all = (long) MESSAGES * STEPS.size() * (round + 1);
                Deadline.await(
                        "all have taken effect",
                        PATIENCE,
                        () -> database.queryLong("select count(*) from ledger") >= all
                                && database.queryLong("select count(*) from postroom.delivery") == 0);
                stop(List.of(heir));
            }
            assertExact(database, "each step once");
        } finally {
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    private static void killAt(Child relay, List<String> steps) throws InterruptedException {
        for (String step : steps) {
            relay.jvm().awaitLine(CrashPoint.lineOf(step), PATIENCE);
        }
        relay.jvm().kill();
        assertThat(relay.jvm().awaitExit(PATIENCE)).isEqualTo(CrashPoint.EXIT_CODE);
    }

    private static void stop(List<Child> relays) throws InterruptedException {
        for (Child relay : relays) {
            relay.started().jvm().say("stop");
        }
        for (Child relay : relays) {
            relay.jvm().awaitLine("stopped", PATIENCE);
        }
    }

    /** From the journal once, and from elsewhere up to four times more, before, after or at the same time. */
    @Test
    void eachMessageTakesEffectOnceThoughItComesOneToFiveTimesAndRelaysAreKilled() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        Random random = new Random(seed);
        List<Child> relays = new ArrayList<>();
        ExecutorService broker = Executors.newFixedThreadPool(2);
        try (TestDatabase database = TestDatabase.create()) {
            createLedger(database);
            int first = 0;
            for (int round = 0; round < ROUNDS; round++) {
                List<Message> messages = Messages.ofManyKeys("step", MESSAGES);
                publish(database, messages);
                Child relay = start(database, CONSUMER, STEPS_BEHIND_AN_INBOX);
                relays.add(relay);
                relay.begin().started();
                List<Future<Integer>> brought = List.of(
                        bring(broker, database, messages, random.nextLong()),
                        bring(broker, database, messages, random.nextLong()));
                killAt(relay, STEPS_BEHIND_AN_INBOX);
                for (Future<Integer> each : brought) {
                    first += each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                }
                // As above: the next round needs batches.
                Child heir = start(database, CONSUMER, List.of()).begin();
                relays.add(heir);
                long published = (long) MESSAGES * (round + 1);
                Deadline.await(
                        "all have come from the journal, too",
                        PATIENCE,
                        () -> database.queryLong("select min(position) from postroom.lane") == published
                                && database.queryLong("select count(*) from postroom.delivery") == 0);
                stop(List.of(heir));
            }
            assertOnce(database, "seed " + seed);
            assertThat(first)
                    .as("seed %d: how many came from elsewhere first", seed)
                    .isBetween(1, MESSAGES * ROUNDS - 1);
        } finally {
            broker.shutdownNow();
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    /** Up to two copies of each message, in any order and some in transactions that roll back; returns how many were the first. */
    private static Future<Integer> bring(
            ExecutorService broker, TestDatabase database, List<Message> messages, long seed) {
        return broker.submit(() -> {
            Random random = new Random(seed);
            List<Message> copies = new ArrayList<>();
            messages.forEach(message -> copies.addAll(Collections.nCopies(random.nextInt(3), message)));
            Collections.shuffle(copies, random);
            int first = 0;
            for (int next = 0; next < copies.size(); ) {
                int end = Math.min(copies.size(), next + 1 + random.nextInt(20));
                boolean rollsBack = random.nextInt(4) == 0;
                int booked = book(database, copies.subList(next, end), rollsBack);
                if (!rollsBack) {
                    first += booked;
                    next = end;
                }
            }
            return first;
        });
    }

    private static int book(TestDatabase database, List<Message> copies, boolean rollsBack) throws SQLException {
        try (Connection tx = database.begin()) {
            List<Acceptance> answers = database.postroom()
                    .inbox()
                    .acceptAll(tx, CONSUMER, copies.stream().map(Received::of).toList());
            List<Envelope> first = new ArrayList<>();
            for (int i = 0; i < copies.size(); i++) {
                if (answers.get(i) == Acceptance.FIRST) {
                    first.add(new Envelope(1, copies.get(i), 1));
                }
            }
            ProjectionMain.write(tx, first);
            if (rollsBack) {
                tx.rollback();
            } else {
                tx.commit();
            }
            return first.size();
        }
    }

    /** It stands still in the middle of its transactions, others take its lanes, and then it goes on. */
    @Test
    void aRelayThatFreezesWhileItAppliesMessagesDoesNotApplyThemToo() throws Exception {
        List<Child> relays = new ArrayList<>();
        try (TestDatabase database = TestDatabase.create()) {
            createLedger(database);
            publish(database, Messages.ofManyKeys("k", MESSAGES));
            Child frozen = start(database, "", FROZEN);
            relays.add(frozen.begin());
            Child next = start(database);
            relays.add(next);
            for (String step : FROZEN) {
                frozen.jvm().awaitLine(CrashPoint.lineOf(step), PATIENCE);
            }
            frozen.jvm().freeze();
            next.begin();
            Deadline.await(
                    "the other has applied them",
                    PATIENCE,
                    () -> lanes(database, frozen) == 0
                            && database.queryLong("select count(*) from ledger") >= MESSAGES
                            && database.queryLong("select count(*) from postroom.delivery") == 0);
            frozen.jvm().thaw();
            frozen.jvm().say("go");
            publish(database, Messages.ofManyKeys("k", MESSAGES));
            Deadline.await(
                    "both go on", PATIENCE, () -> database.queryLong("select count(*) from ledger") >= 2 * MESSAGES);
            stop(relays);
            assertExact(database, "frozen");
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
        assertOnce(database, run);
        assertThat(database.queryLong(
                        "select count(*) from (select position, lag(position) over (partition by key order by n)"
                                + " as before from ledger) as entry where before >= position"))
                .as("%s: out of order", run)
                .isZero();
    }

    private static void assertOnce(TestDatabase database, String run) {
        assertThat(database.queryLong("select count(*) from ledger"))
                .as("%s: none twice, none missing", run)
                .isEqualTo(database.queryLong("select count(*) from postroom.outbox"));
        assertThat(database.queryLong("select count(*) from postroom.outbox where id not in (select id from ledger)"))
                .as("%s: missing", run)
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

    /** A relay in a process of its own. Processes are slow to start: it may begin later, and be beginning still. */
    private record Child(ChildJvm jvm) {
        Child begin() {
            jvm.say("begin");
            return this;
        }

        Child started() throws InterruptedException {
            id();
            return this;
        }

        UUID id() throws InterruptedException {
            String line = jvm.awaitLine(text -> text.startsWith("started "), "its start", PATIENCE);
            return UUID.fromString(line.substring("started ".length()));
        }
    }

    private static long lanes(TestDatabase database, Child relay) throws InterruptedException {
        return database.queryLong("select count(*) from postroom.lane where owner = '" + relay.id() + "'");
    }

    private static Child start(TestDatabase database) {
        return start(database, "", List.of());
    }

    private static Child start(TestDatabase database, String consumer, List<String> steps) {
        List<String> arguments = new ArrayList<>(List.of(
                database.url(),
                "projection-" + UUID.randomUUID(),
                Integer.toString(LANES),
                Long.toString(LEASE.toMillis()),
                consumer));
        arguments.addAll(steps);
        return new Child(ChildJvm.start(
                ProjectionMain.class,
                List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                arguments.toArray(String[]::new)));
    }
}
