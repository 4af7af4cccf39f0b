package io.postroom.fault;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CountDownLatch;

/**
 * A relay in a small process that drains a backlog and counts: each message once, each key's versions in order.
 *
 * <p>Arguments: URL, number of messages, number of keys; keys are numbers.
 */
final class BacklogMain {
    private final BitSet seen;
    private final long[] versions;
    private final long goal;
    private final CountDownLatch done = new CountDownLatch(1);
    private long distinct;
    private long repeated;
    private long outOfOrder;
    private long bytes;

    private BacklogMain(int messages, int keys) {
        seen = new BitSet(messages + 1);
        versions = new long[keys];
        goal = messages;
    }

    public static void main(String[] arguments) throws InterruptedException, IOException {
        BacklogMain drained = new BacklogMain(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        long began = System.nanoTime();
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 10);
                Relay relay = Postroom.on(pool)
                        .relay()
                        .handle(Subscription.named("all").lanes(4).build(), drained::handle)
                        .build()) {
            relay.start();
            drained.done.await();
        }
        System.out.println("drained distinct=" + drained.distinct + " repeated=" + drained.repeated + " outOfOrder="
                + drained.outOfOrder + " bytes=" + drained.bytes + " residentKilobytes=" + residentKilobytes()
                + " millis="
                + (System.nanoTime() - began) / 1_000_000);
    }

    private synchronized void handle(Envelope envelope) {
        if (seen.get((int) envelope.position())) {
            repeated++;
            return;
        }
        seen.set((int) envelope.position());
        int key = Integer.parseInt(envelope.message().aggregateId());
        Long version = envelope.message().aggregateVersion();
        if (version == null || version != versions[key] + 1) {
            outOfOrder++;
        }
        versions[key]++;
        bytes += envelope.message().payload().length();
        if (++distinct == goal) {
            done.countDown();
        }
    }

    /** The most that the process ever had in memory, where the system tells; 0 elsewhere. */
    private static long residentKilobytes() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .findFirst()
                .orElse(0);
    }
}
