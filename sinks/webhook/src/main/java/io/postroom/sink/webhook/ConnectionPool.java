package io.postroom.sink.webhook;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Keeps connections to one endpoint open between webhooks; the most recently used goes out first. There are never more than
 * there are workers. Safe for use by many threads.
 */
final class ConnectionPool {
    /** Shorter than what servers commonly allow, so that we rarely write to a connection that is being closed. */
    static final Duration IDLE_MAX = Duration.ofSeconds(4);

    private static final Duration SWEEP_SLACK = Duration.ofMillis(100);

    private final Dialer dialer;
    private final Watchdog watchdog;
    private final Deque<HttpConnection> idle = new ArrayDeque<>();
    private boolean sweeping;
    private boolean closed;

    ConnectionPool(Dialer dialer, Watchdog watchdog) {
        this.dialer = dialer;
        this.watchdog = watchdog;
    }

    /** Posts over an idle connection or a new one. */
    HttpAnswer post(byte[] head, byte[] body, Deadline deadline) throws IOException, InterruptedException {
        HttpConnection used = take();
        if (used != null) {
            try {
                return post(used, head, body, deadline);
            } catch (NoAnswerException e) {
                if (!e.silent()) {
                    throw e;
                }
                // The endpoint closed it while it was idle. Were it not so, the webhook's id would tell the duplicate.
            }
        }
        return post(dialer.dial(deadline), head, body, deadline);
    }

    private HttpAnswer post(HttpConnection connection, byte[] head, byte[] body, Deadline deadline) throws IOException {
        boolean keep = false;
        try {
            HttpAnswer answer = connection.post(head, body, deadline, watchdog);
            // 421 says that this connection is the wrong one for the host.
            keep = answer.reusable() && answer.status() != 421;
            return answer;
        } finally {
            if (keep) {
                giveBack(connection);
            } else {
                connection.abort();
            }
        }
    }

    private synchronized @Nullable HttpConnection take() {
        closeTooIdle();
        return idle.pollFirst();
    }

    private synchronized void giveBack(HttpConnection connection) {
        if (closed) {
            connection.abort();
            return;
        }
        connection.idleSince(System.nanoTime());
        idle.addFirst(connection);
        sweepLater();
    }

    /** At most one sweep is planned at a time, and none while there is nothing to sweep. */
    private void sweepLater() {
        if (!sweeping && !closed && !idle.isEmpty()) {
            sweeping = true;
            watchdog.later(this::sweep, IDLE_MAX.plus(SWEEP_SLACK));
        }
    }

    private synchronized void sweep() {
        sweeping = false;
        closeTooIdle();
        sweepLater();
    }

    private void closeTooIdle() {
        // Ends at the first that is fresh: the oldest are at the end.
        while (!idle.isEmpty() && (closed || idle.peekLast().idleLongerThan(IDLE_MAX))) {
            idle.pollLast().abort();
        }
    }

    synchronized int idle() {
        return idle.size();
    }

    synchronized void close() {
        closed = true;
        closeTooIdle();
    }
}
