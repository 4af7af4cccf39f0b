package io.postroom.fault;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A relay in a process of its own, which a test kills or freezes.
 *
 * <p>It delivers by appending one line to a file that all relays of a test share. A line is one write, so lines of several
 * processes do not mix and their order is the order of delivery; and it is with the operating system before the message counts
 * as accepted, so it survives the process. Prints what its telemetry hears. Ends cleanly when told {@code stop}, and at once
 * when its standard input ends.
 *
 * <p>Arguments: URL, relay name, file, lanes, lease in milliseconds, time per message in microseconds.
 */
final class RelayMain {
    /** A message of this type is held for a moment in the middle of its delivery, and it is said. */
    static final String TRAP = "Trap";

    private static final Duration TRAPPED_FOR = Duration.ofMillis(500);

    private RelayMain() {}

    public static void main(String[] arguments) throws IOException {
        String name = arguments[1];
        Duration perMessage = Duration.ofNanos(Long.parseLong(arguments[5]) * 1_000);
        try (FileChannel file =
                        FileChannel.open(Path.of(arguments[2]), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                HikariDataSource pool = TestDatabase.pool(arguments[0], 10)) {
            Relay relay = Postroom.builder(pool)
                    .telemetry(new Told())
                    .build()
                    .relay()
                    .name(name)
                    .lease(Duration.ofMillis(Long.parseLong(arguments[4])))
                    .handle(
                            Subscription.named("all")
                                    .lanes(Integer.parseInt(arguments[3]))
                                    .build(),
                            envelope -> deliver(file, name, envelope, perMessage))
                    .build();
            relay.start();
            System.out.println("started " + relay.id());
            awaitStop();
            relay.close();
            System.out.println("stopped");
        }
    }

    private static void deliver(FileChannel file, String name, Envelope envelope, Duration perMessage) {
        if (envelope.message().eventType().equals(TRAP)) {
            System.out.println("trapped at " + envelope.position());
            park(TRAPPED_FOR);
        }
        park(perMessage);
        DeliveryFile.append(file, History.Delivery.of(name, envelope));
    }

    private static void park(Duration duration) {
        long until = System.nanoTime() + duration.toNanos();
        while (until - System.nanoTime() > 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    private static void awaitStop() throws IOException {
        String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        if (line == null) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Prints what matters to a test. */
    private static final class Told implements Telemetry {
        @Override
        public void staleSettle(String subscription, int lane) {
            System.out.println("telemetry: stale settle of lane " + lane);
        }

        @Override
        public void laneAcquired(String subscription, int lane, boolean takeover) {
            System.out.println("telemetry: lane " + lane + (takeover ? " taken over" : " taken"));
        }

        @Override
        public void laneReleased(String subscription, int lane, boolean lost) {
            System.out.println("telemetry: lane " + lane + (lost ? " lost" : " given back"));
        }
    }
}
