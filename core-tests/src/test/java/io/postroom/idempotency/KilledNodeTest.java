package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two hundred clients of two nodes ask for the same keys as a third node that is killed with SIGKILL, once at every labelled point. Whatever
 * it had begun has one effect, and one answer for whoever asks. With {@code -Dpostroom.long=true}: for a thousand keys and more.
 */
class KilledNodeTest {
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final Duration DEADLINE = Duration.ofMinutes(LONG ? 10 : 4);
    private static final int THREADS_EACH = 100;
    private static final int VICTIM_THREADS = 8;
    private static final int KEYS = LONG ? 30 : 2;

    /** Most of it is for a loaded machine; whoever waits for more than a lease gives up after its patience, without an answer. */
    private static final Duration WAIT_MAX = NodeMain.POLICY.patience().multipliedBy(2);

    private static Shop shop;
    private static List<ChildJvm> survivors;
    /** Processes take their time to begin: the next victim does while the one before dies. */
    private static ChildJvm next;

    @BeforeAll
    static void open() throws InterruptedException {
        shop = new Shop();
        shop.database.execute("create table charged (key text primary key, calls int not null)");
        survivors = List.of(node("crowd", THREADS_EACH), node("crowd", THREADS_EACH));
        next = victim(NodeMain.Point.values()[0]);
    }

    @AfterAll
    static void close() {
        survivors.forEach(ChildJvm::close);
        next.close();
        shop.close();
    }

    private static ChildJvm node(String role, int threads, String... more) {
        List<String> arguments = new ArrayList<>(List.of(role, shop.database.url(), Integer.toString(threads)));
        arguments.addAll(List.of(more));
        return ChildJvm.start(NodeMain.class, List.of("-Xmx128m"), arguments.toArray(String[]::new));
    }

    /** Stands still at a point, in the request for one of the keys. */
    private static ChildJvm victim(NodeMain.Point point) {
        // A failure is claimed a second time in order to be stored: told from a first claim only if there is one
        // client. A completer is one.
        boolean alone = point == NodeMain.Point.REFUSED_UNDONE || point.kind == NodeMain.Kind.COMPLETED;
        int time = point == NodeMain.Point.REFUSED_UNDONE ? 2 : 1 + new Random().nextInt(LONG ? KEYS / 2 : 2);
        return node(
                "victim",
                alone ? 1 : VICTIM_THREADS,
                point.name(),
                Integer.toString(KEYS),
                Integer.toString(point.kind == NodeMain.Kind.SLOW ? 1 : time));
    }

    @ParameterizedTest
    @EnumSource(NodeMain.Point.class)
    void whateverItHadBegunHasOneEffectAndOneAnswer(NodeMain.Point point) throws Exception {
        prepare(point);
        try (ChildJvm victim = next) {
            int following = point.ordinal() + 1;
            if (following < NodeMain.Point.values().length) {
                next = victim(NodeMain.Point.values()[following]);
            }
            victim.awaitLine("ready", DEADLINE);
            victim.say("go");
            victim.awaitLine(CrashPoint.lineOf(point.name()), DEADLINE);
            assertThat(leftMillis(point)).isLessThanOrEqualTo(NodeMain.LEASE.toMillis());
            for (ChildJvm node : survivors) {
                node.say(point + " " + KEYS);
                node.awaitLine("asking " + point, DEADLINE);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(new Random().nextInt(50)));
            assertThat(victim.isAlive()).as(victim::toString).isTrue();
            victim.kill();
            assertThat(victim.awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
        }
        List<List<String>> answers = new ArrayList<>();
        for (ChildJvm node : survivors) {
            node.awaitLine("done " + point, DEADLINE);
            assertThat(node.lines()).noneMatch(line -> line.startsWith("problem"));
            String longest = node.awaitLine("longest " + point + " ", DEADLINE);
            assertThat(Duration.ofMillis(Long.parseLong(longest.split(" ")[2])))
                    .as("how long a client waited for its answer")
                    .isLessThan(WAIT_MAX);
            answers.add(node.lines().stream()
                    .filter(line -> line.startsWith("answers " + point + " "))
                    .toList());
        }
        assertThat(answers.get(0)).isEqualTo(answers.get(1)).hasSize(KEYS).noneMatch(line -> line.contains(","));
        for (int key = 0; key < KEYS; key++) {
            assertOne(point, point.key(key), answers.get(0).get(key).split(" ")[3]);
        }
    }

    private static void prepare(NodeMain.Point point) throws SQLException {
        for (int key = 0; key < KEYS; key++) {
            Request request = point.request(key);
            if (point.kind == NodeMain.Kind.EXPIRED) {
                shop.idempotency.once(request, tx -> Answer.of(200, "long ago"));
                shop.database.execute("update postroom.idempotency_key set expires_at = now() - interval '1 second'"
                        + " where key = '" + point.key(key) + "'");
            }
            if (point.kind.isLeft()) {
                Work work = new Work(shop.database.dataSource(), null, true);
                assertThatThrownBy(() ->
                                shop.idempotency.steps(request, NodeMain.POLICY, work.procedure(NodeMain.Kind.FAILING)))
                        .hasMessage("out of order");
            }
        }
    }

    /** How long the longest lease of a round still lasts. */
    private static long leftMillis(NodeMain.Point point) {
        return shop.database.queryLong(
                "select coalesce(max((extract(epoch from leased_until - clock_timestamp()) * 1000)::bigint), 0)"
                        + " from postroom.idempotency_key where scope = '" + point.scope() + "'");
    }

    private static void assertOne(NodeMain.Point point, String key, String answer) {
        String state = point.kind == NodeMain.Kind.REFUSED ? "failed" : "completed";
        assertThat(shop.keys("key = '" + key + "' and state = '" + state + "' and convert_from(response, 'UTF8') = '"
                        + answer + "'"))
                .as(key)
                .isEqualTo(1);
        if (point.kind.isInSteps()) {
            assertThat(steps(key, "reserve")).as(key).isEqualTo(1);
            assertThat(steps(key, "note")).as(key).isEqualTo(1);
            assertThat(shop.placed(key)).as(key).isEqualTo(2);
            assertThat(shop.database.queryLong("select count(*) from charged where key = 'charge:" + key + ":r1'"))
                    .as(key)
                    .isEqualTo(1);
        } else {
            assertThat(shop.placed(key)).as(key).isEqualTo(point.kind == NodeMain.Kind.REFUSED ? 0 : 1);
        }
    }

    private static long steps(String key, String step) {
        return shop.database.queryLong(
                "select count(*) from placed where key = '" + key + "' and step = '" + step + "'");
    }
}
