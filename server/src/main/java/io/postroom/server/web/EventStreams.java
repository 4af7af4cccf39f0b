package io.postroom.server.web;

import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams that are open. Each has the thread of its request, so that a viewer who does not read holds up nobody else; there are fewer
 * than the server has threads. A stream ends when its viewer goes, signs out or has watched for long enough, and when the server stops:
 * then it says why, and the viewer comes back with the position it has reached. Thread-safe.
 */
final class EventStreams implements AutoCloseable {
    /** A quarter of the threads that there are. */
    static final int OPEN_MAX = 60;

    private static final Logger LOG = LoggerFactory.getLogger(EventStreams.class);
    private static final Duration STEP = Duration.ofSeconds(1);
    /** So many steps without an event, and a beat shows whether the viewer is still there. */
    private static final int BEAT_STEPS = 5;

    private static final Duration RETRY = Duration.ofSeconds(2);
    /** Whoever watches longer comes in through the gate again. */
    private static final Duration LIFE_MAX = Duration.ofMinutes(15);

    private final Semaphore free = new Semaphore(OPEN_MAX);
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final Gate gate;

    EventStreams(Gate gate) {
        this.gate = gate;
    }

    /** Answers a request until its stream ends. */
    void run(Context context, Routes.Watching watching) throws InterruptedException {
        if (!free.tryAcquire()) {
            context.header("Retry-After", "10");
            throw new Refusal(
                    503,
                    "stream.too-many",
                    "there are " + OPEN_MAX
                            + " live views open here, which is the limit; close some, or ask for the list instead");
        }
        Routes.Watch watch = null;
        try {
            watch = watching.begin(context);
            context.contentType("text/event-stream; charset=utf-8");
            // A proxy that collects an answer before it passes it on would make this anything but live.
            context.header("X-Accel-Buffering", "no");
            if (context.method() == HandlerType.HEAD) {
                return;
            }
            EventStream stream = new EventStream(context.res().getOutputStream());
            stream.retryAfter(RETRY.toMillis());
            stream.send("end", null, Map.of("why", watch(context, watch, stream)));
            stream.flush();
        } catch (IOException e) {
            LOG.debug("the viewer of {} is gone", context.path());
        } finally {
            if (watch != null) {
                watch.end();
            }
            free.release();
        }
    }

    /** Says why it ended. */
    private String watch(Context context, Routes.Watch watch, EventStream stream)
            throws IOException, InterruptedException {
        long until = System.nanoTime() + LIFE_MAX.toNanos();
        int silent = 0;
        do {
            if (!gate.isStillIn(context)) {
                return "signed out";
            }
            if (System.nanoTime() > until) {
                return "come again";
            }
            try {
                watch.step(stream);
            } catch (RuntimeException e) {
                // The answer has begun: there is no status any more to say it with.
                LOG.error("could not go on with {}", context.path(), e);
                return "broken";
            }
            if (silent++ >= BEAT_STEPS) {
                stream.beat();
            }
            if (stream.flush()) {
                silent = 0;
            }
        } while (!stopping.await(STEP.toMillis(), TimeUnit.MILLISECONDS));
        return "stopping";
    }

    /** How many are open. */
    int open() {
        return OPEN_MAX - free.availablePermits();
    }

    @Override
    public void close() {
        stopping.countDown();
    }
}
