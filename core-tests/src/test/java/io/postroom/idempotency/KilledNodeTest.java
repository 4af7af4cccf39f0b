package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two hundred clients of two nodes ask for the same keys as a third node that is killed with SIGKILL, at every labelled point. Whatever it
 * had begun has one effect, and one answer for whoever asks. A node dies at several points at once, since processes are slow to start;
 * at two of them, and with {@code -Dpostroom.long=true} at each, with a thousand keys in all, at one: then all two hundred ask for one key.
 */
class KilledNodeTest {
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final Duration DEADLINE = Duration.ofMinutes(LONG ? 10 : 4);
    private static final int THREADS_EACH = 100;
    private static final int KEYS = LONG ? 30 : 2;
    private static final int TOGETHER = 12;

    /** Points at which a node dies alone. */
    private static final List<NodeMain.Point> ALONE = LONG
            ? List.of(NodeMain.Point.values())
            : List.of(NodeMain.Point.ONCE_IN_COMMAND, NodeMain.Point.CALLED_NOT_NOTED);

    private static final List<List<NodeMain.Point>> ROUNDS = rounds(ALONE);

    /** How long after the death a key may be without an answer: a lease, and some seconds for a loaded machine. */
    private static final Duration STUCK_MAX = NodeMain.LEASE.plusSeconds(10);

    /** The longest that a client may wait: whoever waits for longer than its patience goes without an answer. */
    private static final Duration WAIT_MAX = NodeMain.POLICY.patience();

    private static final String CLOCK = "select (extract(epoch from clock_timestamp()) * 1000)::bigint";

    /** Where the victim has the key and has not answered. */
    private static final Set<NodeMain.Point> ALONE_HELD =
            EnumSet.of(NodeMain.Point.ONCE_IN_COMMAND, NodeMain.Point.CALLED_NOT_NOTED);

    private static Shop shop;
    private static List<ChildJvm> survivors;
    /** Processes take their time to begin: the next victim does while the one before dies. */
    private static ChildJvm next;

    @BeforeAll
    static void open() {
        shop = new Shop();
        shop.database.execute("create table charged (key text primary key, calls int not null)");
        next = victim(points(0));
        survivors =
                List.of(node("crowd", Integer.toString(THREADS_EACH)), node("crowd", Integer.toString(THREADS_EACH)));
    }

    @AfterAll
    static void close() {
        survivors.forEach(ChildJvm::close);
        next.close();
        shop.close();
    }

    private static ChildJvm node(String role, String... more) {
        List<String> arguments = new ArrayList<>(List.of(role, shop.database.url()));
        arguments.addAll(List.of(more));
        return ChildJvm.start(NodeMain.class, List.of("-Xmx128m"), arguments.toArray(String[]::new));
    }

    /** Stands still at each point, in the request for one of the keys. */
    private static ChildJvm victim(List<NodeMain.Point> points) {
        List<String> arguments = new ArrayList<>(List.of(Integer.toString(KEYS)));
        points.forEach(point -> arguments.add(point + ":" + (points.size() == 1 ? firstTime(point) : time(point))));
        return node("victim", arguments.toArray(String[]::new));
    }

    /** At the first key, where all clients begin. */
    private static int firstTime(NodeMain.Point point) {
        // A failure is claimed a second time in order to be stored.
        return point == NodeMain.Point.REFUSED_UNDONE ? 2 : 1;
    }

    private static int time(NodeMain.Point point) {
        if (point == NodeMain.Point.REFUSED_UNDONE) {
            return firstTime(point);
        }
        // Who is slow or fails comes to no other key.
        boolean first = point.kind == NodeMain.Kind.SLOW || point.kind == NodeMain.Kind.FAILING;
        return first ? 1 : 1 + new Random().nextInt(2);
    }

    static IntStream rounds() {
        return IntStream.range(0, ROUNDS.size());
    }

    private static List<List<NodeMain.Point>> rounds(List<NodeMain.Point> alone) {
        List<NodeMain.Point> others = Stream.of(NodeMain.Point.values())
                .filter(point -> !alone.contains(point))
                .toList();
        List<List<NodeMain.Point>> rounds = new ArrayList<>();
        for (int from = 0; from < others.size(); from += TOGETHER) {
            rounds.add(others.subList(from, Math.min(others.size(), from + TOGETHER)));
        }
        alone.forEach(point -> rounds.add(List.of(point)));
        return rounds;
    }

    private static List<NodeMain.Point> points(int round) {
        return round < ROUNDS.size() ? ROUNDS.get(round) : List.of();
    }

    @ParameterizedTest
    @MethodSource("rounds")
    void whateverItHadBegunHasOneEffectAndOneAnswer(int round) throws Exception {
        List<NodeMain.Point> points = points(round);
        String order = "round-" + round + " " + KEYS + " "
                + points.stream().map(Enum::name).collect(Collectors.joining(" "));
        for (NodeMain.Point point : points) {
            prepare(point);
        }
        long killedAt;
        try (ChildJvm victim = next) {
            victim.awaitLine("ready", DEADLINE);
            if (!points(round + 1).isEmpty()) {
                next = victim(points(round + 1));
            }
            victim.say("go");
            for (NodeMain.Point point : points) {
                victim.awaitLine(CrashPoint.lineOf(point.name()), DEADLINE);
                assertThat(leftMillis(point)).isLessThanOrEqualTo(NodeMain.LEASE.toMillis());
            }
            for (ChildJvm node : survivors) {
                node.say(order);
                node.awaitLine("asking round-" + round, DEADLINE);
            }
            if (points.size() == 1 && isHeld(points.get(0))) {
                for (ChildJvm node : survivors) {
                    // All two hundred at once, while the victim has it.
                    node.awaitLine(
                            "together round-" + round + " " + points.get(0).key(0), DEADLINE);
                }
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(new Random().nextInt(50)));
            assertThat(victim.isAlive()).as(victim::toString).isTrue();
            killedAt = shop.database.queryLong(CLOCK);
            victim.kill();
            assertThat(victim.awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
        }
        List<Map<String, String>> answers = new ArrayList<>();
        for (ChildJvm node : survivors) {
            node.awaitLine("done round-" + round, DEADLINE);
            assertThat(node.lines()).noneMatch(line -> line.startsWith("problem"));
            String longest = node.awaitLine("longest round-" + round + " ", DEADLINE);
            assertThat(Duration.ofMillis(Long.parseLong(longest.split(" ")[2])))
                    .as("how long a client waited for its answer")
                    .isLessThan(WAIT_MAX);
            answers.add(node.lines().stream()
                    .filter(line -> line.startsWith("answers "))
                    .map(line -> line.split(" "))
                    .collect(Collectors.toMap(words -> words[1], words -> words[2])));
        }
        assertThat(answers.get(0)).isEqualTo(answers.get(1));
        for (NodeMain.Point point : points) {
            for (int key = 0; key < KEYS; key++) {
                String answer = answers.get(0).get(point.key(key));
                assertThat(answer).as(point.key(key)).isNotNull().doesNotContain(",");
                assertOne(point, point.key(key), answer);
            }
        }
        assertThat(shop.database.queryLong(
                        "select coalesce(max((extract(epoch from completed_at) * 1000)::bigint), 0) - "
                                + killedAt + " from postroom.idempotency_key where key in ("
                                + points.stream()
                                        .flatMap(point -> Stream.of(point.key(0), point.key(1)))
                                        .map(key -> "'" + key + "'")
                                        .collect(Collectors.joining(", "))
                                + ")"))
                .as("milliseconds from the death to the last answer, of keys that it may have had")
                .isLessThan(STUCK_MAX.toMillis());
    }

    /** Whether nobody gets an answer while the victim stands there. */
    private static boolean isHeld(NodeMain.Point point) {
        return ALONE_HELD.contains(point);
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
        // Status, headers and bytes, as each client got them and as they are stored.
        String[] parts = answer.split(":", -1);
        assertThat(shop.keys("key = '" + key + "' and state = '" + state + "' and status_code = " + parts[0]
                        + " and encode(response, 'hex') = '" + parts[2] + "' and headers ->> 'x-order' = '"
                        + parts[1].replace("x-order=", "") + "'"))
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
