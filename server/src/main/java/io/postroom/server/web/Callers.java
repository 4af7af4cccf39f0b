package io.postroom.server.web;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Whoever is connected. Those who have not yet asked for anything wait for a bounded time, and when there are too many of them the one
 * that has waited longest makes room. Those who send a body have a bounded time for it, and too many of them are refused before anything
 * of theirs is read. So whoever sends slowly, or nothing, keeps nobody else out. Thread-safe.
 */
final class Callers extends Handler.Wrapper implements Connection.Listener {
    private final int waitingMax;
    private final Duration waitMax;
    private final Semaphore bodies;
    /** With the turn in which each began to wait, the first one first. */
    private final Map<EndPoint, Long> waiting = new LinkedHashMap<>();

    private long turns;

    Callers(int waitingMax, int bodiesMax, Duration waitMax) {
        this.waitingMax = waitingMax;
        this.waitMax = waitMax;
        this.bodies = new Semaphore(bodiesMax);
    }

    @Override
    public void onOpened(Connection connection) {
        await(connection.getEndPoint());
    }

    @Override
    public void onClosed(Connection connection) {
        synchronized (this) {
            waiting.remove(connection.getEndPoint());
        }
    }

    private void await(EndPoint caller) {
        EndPoint leaving = null;
        long turn;
        synchronized (this) {
            turn = ++turns;
            waiting.put(caller, turn);
            if (waiting.size() > waitingMax) {
                Iterator<EndPoint> oldest = waiting.keySet().iterator();
                leaving = oldest.next();
                oldest.remove();
            }
        }
        if (leaving != null) {
            leaving.close();
        }
        getServer()
                .getScheduler()
                .schedule(() -> closeIfWaiting(caller, turn), waitMax.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void closeIfWaiting(EndPoint caller, long turn) {
        synchronized (this) {
            if (!waiting.remove(caller, turn)) {
                return;
            }
        }
        caller.close();
    }

    /** The head of a request is there. */
    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        EndPoint caller = request.getConnectionMetaData().getConnection().getEndPoint();
        synchronized (this) {
            waiting.remove(caller);
        }
        boolean hasBody = hasBody(request);
        if (hasBody && !bodies.tryAcquire()) {
            response.getHeaders().put(new HttpField(HttpHeader.CONNECTION, "close"));
            Response.writeError(request, response, callback, 503);
            return true;
        }
        Request.addCompletionListener(request, failure -> {
            if (hasBody) {
                bodies.release();
            }
            if (caller.isOpen()) {
                await(caller);
            }
        });
        return super.handle(hasBody ? new Timed(request, waitMax) : request, response, callback);
    }

    /** By its head: the length of a request without a body is unknown, as that of one in chunks is. */
    private static boolean hasBody(Request request) {
        return request.getLength() > 0 || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
    }

    /** A request whose body has to come in time. */
    private static final class Timed extends Request.Wrapper {
        private final long until;
        private boolean isRead;

        Timed(Request request, Duration within) {
            super(request);
            this.until = System.nanoTime() + within.toNanos();
        }

        @Override
        public Content.Chunk read() {
            if (!isRead && System.nanoTime() - until > 0) {
                return Content.Chunk.from(new TimeoutException("the body took too long"));
            }
            Content.Chunk chunk = super.read();
            isRead |= chunk != null && chunk.isLast();
            return chunk;
        }
    }
}
