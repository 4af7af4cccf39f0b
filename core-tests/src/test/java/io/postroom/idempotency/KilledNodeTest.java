package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nodes that are killed with SIGKILL. Whatever they had begun has one effect, and one answer for whoever asks. */
class KilledNodeTest {
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final Duration DEADLINE = Duration.ofMinutes(LONG ? 30 : 2);
    private static final int THREADS_EACH = 100;
    private static final int KEYS = LONG ? 1_000 : 40;
    private static final int KILLS = LONG ? 40 : 4;

    private static Shop shop;

    @BeforeAll
    static void open() {
        shop = new Shop();
        shop.database.execute("create table charged (key text primary key, calls int not null)");
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @ParameterizedTest
    @EnumSource(NodeMain.Point.class)
    void hasOneEffectAndOneAnswerWhereverItDies(NodeMain.Point point) throws Exception {
        Request request = Shop.request(point.name());
        if (point.needsOneThatDiedBefore()) {
            die(point, NodeMain.Point.STEPS_ADVANCED);
            awaitLease(point.name());
        }
        die(point, point);
        awaitLease(point.name());
        // Its lease is over: from now on nobody waits. A session that is gone takes the server a moment to notice.
        Idempotency survivor = Postroom.on(shop.database.dataSource()).idempotency();
        NodeMain.Work work = new NodeMain.Work(shop.database.dataSource(), null);
        long deadline = System.nanoTime() + Duration.ofSeconds(5).toNanos();
        Outcome outcome = point.ask(survivor, request, work);
        while (outcome instanceof Outcome.Running && System.nanoTime() < deadline) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            outcome = point.ask(survivor, request, work);
        }
        assertThat(outcome.answer()).as(outcome.toString()).isPresent();
        assertThat(point.ask(survivor, request, work).answer()).isEqualTo(outcome.answer());
        assertOneEffect(point);
        assertThat(shop.keys("key = '" + point.name() + "' and state = 'running'"))
                .isZero();
    }

    private static void die(NodeMain.Point victim, NodeMain.Point point) throws InterruptedException {
        // What is stored after a failure is claimed a second time; the first claim is that of the command.
        String time = point == NodeMain.Point.REFUSED_UNDONE ? "2" : "1";
        try (ChildJvm child = ChildJvm.start(
                NodeMain.class, List.of("-Xmx96m"), "crash", shop.database.url(), victim.name(), point.name(), time)) {
            assertThat(child.awaitExit(Duration.ofSeconds(60)))
                    .as(child::toString)
                    .isEqualTo(CrashPoint.EXIT_CODE);
            assertThat(child.lines()).contains(CrashPoint.lineOf(point.name()));
        }
    }

    /** Waits until the lease that a killed node left is over, which is no longer than it was given for. */
    private static void awaitLease(String key) {
        String left = "select coalesce(max((extract(epoch from leased_until - clock_timestamp()) * 1000)::bigint), 0)"
                + " from postroom.idempotency_key where key = '" + key + "'";
        long millis = shop.database.queryLong(left);
        assertThat(millis).isLessThanOrEqualTo(NodeMain.LEASE.toMillis());
        while (shop.database.queryLong(left) > 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static void assertOneEffect(NodeMain.Point point) {
        String key = point.name();
        switch (point.kind) {
            case ONCE -> assertThat(shop.placed(key)).isEqualTo(1);
            case REFUSED -> assertThat(shop.placed(key)).isZero();
            default -> {
                assertThat(steps(key, "reserve")).isEqualTo(1);
                assertThat(steps(key, "note")).isEqualTo(1);
                assertThat(shop.placed(key)).isEqualTo(2);
                assertThat(shop.database.queryLong("select count(*) from charged where key = 'charge:" + key + ":r1'"))
                        .isEqualTo(1);
            }
        }
    }

    private static long steps(String key, String step) {
        return shop.database.queryLong(
                "select count(*) from placed where key = '" + key + "' and step = '" + step + "'");
    }

    /** Two hundred clients of two nodes ask for the same keys at once, while a third node is killed again and again. */
    @Test
    void twoHundredClientsOfTwoNodesGetOneAnswerForEachKey() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<String> answers = new ArrayList<>();
        try (ChildJvm one = crowd();
                ChildJvm two = crowd()) {
            for (int kill = 0; kill < KILLS && one.isAlive() && two.isAlive(); kill++) {
                try (ChildJvm victim = crowd()) {
                    victim.awaitLine("begun", DEADLINE);
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(700)));
                    victim.kill();
                }
            }
            for (ChildJvm node : List.of(one, two)) {
                node.awaitLine("done", DEADLINE);
                assertThat(node.lines()).as("seed " + seed).noneMatch(line -> line.startsWith("problem"));
                answers.add(String.join(
                        "\n",
                        node.lines().stream()
                                .filter(line -> line.startsWith("answers"))
                                .toList()));
            }
        }
        assertThat(answers.get(0)).as("seed " + seed).isEqualTo(answers.get(1));
        assertThat(answers.get(0).lines()).as("seed " + seed).hasSize(KEYS).noneMatch(line -> line.contains(","));
        for (int key = 0; key < KEYS; key++) {
            assertOne(seed, key, answers.get(0).lines().skip(key).findFirst().orElseThrow());
        }
    }

    private static ChildJvm crowd() {
        return ChildJvm.start(
                NodeMain.class,
                List.of("-Xmx128m"),
                "run",
                shop.database.url(),
                Integer.toString(THREADS_EACH),
                Integer.toString(KEYS));
    }

    private static void assertOne(long seed, int key, String line) {
        String name = Crowd.key(key);
        assertThat(shop.keys("key = '" + name + "' and state = 'completed' and convert_from(response, 'UTF8') = '"
                        + line.split(" ")[2] + "'"))
                .as("seed %d, %s", seed, line)
                .isEqualTo(1);
        if (Crowd.kind(key).kind == NodeMain.Kind.ONCE) {
            assertThat(shop.placed(name)).as("seed %d, %s", seed, name).isEqualTo(1);
        } else {
            assertThat(steps(name, "reserve")).as("seed %d, %s", seed, name).isEqualTo(1);
            assertThat(steps(name, "note")).as("seed %d, %s", seed, name).isEqualTo(1);
        }
    }
}
