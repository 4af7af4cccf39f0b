package io.postroom.fault;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.delivery.Promotion;
import io.postroom.inbox.Inbox;
import io.postroom.message.Envelope;
import io.postroom.postgres.Schema;
import io.postroom.relay.Handler;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.subscription.LaneChange;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.CrashingSink;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A relay in a process of its own whose messages behave as their {@link Kind} says, and which may die or freeze at a chosen step.
 *
 * <p>It serves two subscriptions with the same messages: {@link #GOES_ON}, whose keys go on after a burial, and {@link #HOLDS}, whose
 * keys are held. It delivers by appending a line to the subscription's file, with one write. Says {@code ready} when it is there,
 * begins when it is told {@code go}, ends cleanly when told {@code stop}, and at once when its standard input ends.
 *
 * <p>Its one argument is the text of {@link FaultSettings}.
 */
final class FaultMain {
    static final String GOES_ON = "goes-on";
    static final String HOLDS = "holds";

    private static final Duration SLOW = Duration.ofMillis(1_500);

    /** Enough for the open circuit to be seen. */
    private static final int AWAY_TIMES = 5;

    private final FaultSettings settings;
    private final Map<String, AtomicInteger> away = new ConcurrentHashMap<>();

    private FaultMain(FaultSettings settings) {
        this.settings = settings;
    }

    public static void main(String[] arguments) throws IOException, SQLException {
        new FaultMain(FaultSettings.parse(arguments[0])).run();
    }

    private void run() throws IOException, SQLException {
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ExecutorService threads = settings.threads() == 0 ? null : Executors.newFixedThreadPool(settings.threads());
        try (HikariDataSource pool = TestDatabase.pool(settings.url(), 16)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            Step step = Step.parse(settings.step());
            step.arm(database);
            Relay relay = relay(database, step::arm, threads);
            // The first use of a pool takes longest: whoever waits for this process has it behind them.
            pool.getConnection().close();
            System.out.println("ready");
            await(told);
            relay.start();
            System.out.println("started " + relay.id());
            await(told);
            relay.close();
            System.out.println("stopped");
        }
        // Threads that hang in a handler are nobody's to wait for.
        Runtime.getRuntime().halt(0);
    }

    /** The same relay in this process, without a step to die at. */
    static Relay relay(FaultSettings settings, DataSource database) throws IOException {
        return new FaultMain(settings).relay(database, sink -> sink, null);
    }

    private Relay relay(DataSource database, UnaryOperator<Sink> armed, @Nullable ExecutorService threads)
            throws IOException {
        Relay.Builder builder = Postroom.on(database)
                .relay()
                .name(settings.name())
                .lease(settings.lease())
                .settleInterval(settings.settleInterval())
                .probe(Duration.ofMillis(10), Duration.ofMillis(100));
        for (String name : settings.subscriptions()) {
            builder.deliver(subscription(name), armed.apply(sink(file(name), threads)));
        }
        return builder.build();
    }

    /** Open until the process ends. */
    private FileChannel file(String name) throws IOException {
        return FileChannel.open(
                settings.directory().resolve(name), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private Subscription subscription(String name) {
        return Subscription.named(name)
                .lanes(settings.lanes())
                .onBurial(name.equals(HOLDS) ? OnBurial.HOLD : OnBurial.CONTINUE)
                .retry(settings.retry())
                .deadline(settings.deadline())
                .build();
    }

    private Sink sink(FileChannel file, @Nullable ExecutorService threads) {
        Handler handler = envelope -> handle(file, envelope);
        Sink direct = handler.asSink();
        return threads == null
                ? direct
                : envelope -> CompletableFuture.supplyAsync(() -> direct.send(envelope), threads)
                        .thenCompose(answer -> answer);
    }

    private void handle(FileChannel file, Envelope envelope) {
        Kind kind = Kind.valueOf(envelope.message().eventType());
        park(settings.work());
        switch (kind) {
            case ONCE -> {
                if (envelope.attempt() == 1) {
                    throw new IllegalStateException("not the first time");
                }
            }
            case NEVER -> throw new IllegalStateException("never");
            case REJECTED -> throw new OutcomeException(Outcome.rejected("not at all"));
            case FLAKY -> {
                if (ThreadLocalRandom.current().nextBoolean()) {
                    throw new OutcomeException(Outcome.rejected("not this time"));
                }
            }
            case SLOW -> park(SLOW);
            case AWAY -> beAway(file + " " + envelope.position());
            case HALT -> Runtime.getRuntime().halt(1);
            case EXHAUST -> exhaust();
            case HANG -> hang();
            default -> {
                // It is accepted.
            }
        }
        append(file, envelope);
    }

    private void beAway(String what) {
        if (away.computeIfAbsent(what, ignored -> new AtomicInteger()).incrementAndGet() <= AWAY_TIMES) {
            throw new OutcomeException(Outcome.unavailable("away"));
        }
    }

    private void append(FileChannel file, Envelope envelope) {
        History.Delivery delivery = History.Delivery.of(settings.name(), envelope);
        String line = String.join(
                " ",
                delivery.relay(),
                delivery.id().toString(),
                delivery.key(),
                Long.toString(delivery.version()),
                Long.toString(delivery.position()),
                Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now())));
        try {
            file.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void exhaust() {
        List<long[]> hoard = new ArrayList<>();
        while (true) {
            hoard.add(new long[1 << 20]);
        }
    }

    private static void hang() {
        CountDownLatch never = new CountDownLatch(1);
        while (true) {
            try {
                never.await();
            } catch (InterruptedException e) {
                // Deaf.
            }
        }
    }

    private static void park(Duration duration) {
        long until = System.nanoTime() + duration.toNanos();
        while (until - System.nanoTime() > 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    private static void await(BufferedReader told) throws IOException {
        if (told.readLine() == null) {
            Runtime.getRuntime().halt(1);
        }
    }

    /**
     * A step of a relay and what happens there, written as {@code kill after accept.sql 2} or {@code freeze before send 1}; {@code hold} lets the
     * thread stand still for good.
     */
    record Step(String text, String act, String moment, String what, int time) {
        static final String SEND = "send";

        static Step parse(String text) {
            String[] words = text.split(" ");
            return words.length < 4
                    ? new Step("", "", "", "", 1)
                    : new Step(text, words[0], words[1], words[2], Integer.parseInt(words[3]));
        }

        private CrashPoint point() {
            return switch (act) {
                case "freeze" -> CrashPoint.freeze(text, time);
                case "hold" -> CrashPoint.hold(text, time);
                default -> CrashPoint.kill(text, time);
            };
        }

        void arm(CrashingDataSource database) {
            arm(database, point());
        }

        /** The same with another thing that happens there. */
        void arm(CrashingDataSource database, CrashPoint point) {
            if (what.isEmpty() || what.equals(SEND)) {
                return;
            }
            Predicate<String> same = statement(what)::equals;
            if (what.equals("unclaim.sql")) {
                // Only claims whose answer was lost are taken back.
                database.committed(
                        statement("claim.sql")::equals,
                        CrashPoint.act("lose an answer", 1, Step::<RuntimeException>loseTheAnswer));
            }
            switch (moment) {
                case "before" -> database.before(same, point);
                case "after" -> database.after(same, point);
                case "committed" -> database.committed(same, point);
                default -> throw new IllegalArgumentException("no moment: " + moment);
            }
        }

        private static String statement(String file) {
            if (file.startsWith("inbox/")) {
                return Schema.POSTROOM
                        .sql(Inbox.class, file.substring("inbox/".length()))
                        .text();
            }
            Class<?> owner = Stream.of(Relay.class, Promotion.class)
                    .filter(each -> each.getResource(file) != null)
                    .findFirst()
                    .orElse(LaneChange.class);
            return Schema.POSTROOM.sql(owner, file).text();
        }

        /** As the driver would say it, though the caller's signature does not. */
        @SuppressWarnings("unchecked")
        private static <T extends Throwable> void loseTheAnswer() throws T {
            throw (T) new SQLException("the answer is lost", "08006");
        }

        Sink arm(Sink sink) {
            if (!what.equals(SEND)) {
                return sink;
            }
            return moment.equals("before")
                    ? new CrashingSink(sink).before(envelope -> true, point())
                    : new CrashingSink(sink).after(envelope -> true, point());
        }
    }
}
