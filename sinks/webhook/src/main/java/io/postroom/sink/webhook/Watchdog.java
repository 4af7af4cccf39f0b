package io.postroom.sink.webhook;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Closes sockets at their deadline. A blocked handshake or write knows no timeout of its own; closing the socket under it ends
 * every kind of wait. One daemon thread, which ends when there is nothing to watch.
 */
final class Watchdog {
    private static final Duration THREAD_IDLE_MAX = Duration.ofSeconds(10);

    private final ScheduledThreadPoolExecutor timer;

    Watchdog(ThreadFactory threads) {
        timer = new ScheduledThreadPoolExecutor(1, threads);
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(THREAD_IDLE_MAX.toMillis(), TimeUnit.MILLISECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /** Closes the socket at the deadline, unless cancelled before. */
    ScheduledFuture<?> watch(Socket socket, Deadline deadline) {
        return timer.schedule(() -> close(socket), deadline.left().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Runs a short task after the given time. */
    void later(Runnable task, Duration delay) {
        timer.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is closed as far as we can.
        }
    }

    /** Watches nothing new; what is being watched still ends in time. */
    void shutdown() {
        timer.shutdown();
    }
}
