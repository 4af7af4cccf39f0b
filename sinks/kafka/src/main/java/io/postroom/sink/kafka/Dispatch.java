package io.postroom.sink.kafka;

import io.postroom.relay.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands records to the producer without making a lane wait, and makes a new producer when one is spent.
 *
 * <p>What the producer does not take at once, because it does not know the topic or has no room, is left to one thread, the
 * opener, which asks again for as long as a message may wait. It makes and closes producers too, so that there is never more
 * than one, and looks whether one has gone silent: before it has its id from the broker, a producer gives up on nothing, however
 * long the broker is away. Safe for use by many threads.
 */
final class Dispatch {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatch.class);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(5);
    private static final int WAITING_MAX = 10_000;

    /** So much longer than the delivery timeout a producer may stay silent: it looks for what is too old not all the time. */
    private static final Duration SILENCE_MARGIN = Duration.ofSeconds(2);

    private static final Duration SILENCE_LOOK = Duration.ofSeconds(1);

    private final Map<String, Object> settings;
    private final TopicTemplate template;
    private final Duration deliveryTimeout;
    private final Duration waitMax;
    private final ScheduledExecutorService opener = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "postroom-kafka-opener");
        thread.setDaemon(true);
        return thread;
    });

    /** Written by the opener only. */
    private volatile @Nullable ProducerSession session;

    /** When the opener first asked for a topic that is waited for; used by the opener only. */
    private final Map<String, Long> askedSince = new HashMap<>();

    /** Whether somebody looks for silence; used by the opener only. */
    private boolean watching;

    /** What waits for the opener, by topic. Guards itself and the two fields below. */
    private final Map<String, List<Sending>> waiting = new HashMap<>();

    private int waitingCount;
    private boolean closed;

    Dispatch(Map<String, Object> settings, TopicTemplate template, Duration deliveryTimeout, Duration waitMax) {
        this.settings = settings;
        this.template = template;
        this.deliveryTimeout = deliveryTimeout;
        this.waitMax = waitMax;
    }

    CompletableFuture<Outcome> send(ProducerRecord<byte[], byte[]> record) {
        Sending sending = new Sending(record, new CompletableFuture<>());
        ProducerSession open = session;
        if (open == null || open.isSpent() || !offer(open, sending)) {
            leaveToOpener(sending);
        }
        return sending.answer;
    }

    /** Waits for what is under way, but not for long; what is not acknowledged by then was not accepted. */
    void close() {
        List<Sending> left;
        synchronized (waiting) {
            if (closed) {
                return;
            }
            closed = true;
            left = takeAll();
            // By the opener, which may be making a producer at this moment.
            opener.execute(() -> closeSession(CLOSE_MAX, refuseClosed()));
        }
        answer(left, refuseClosed());
        opener.shutdown();
        try {
            if (!opener.awaitTermination(2 * CLOSE_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn(
                        "could not close the producer for {} within {} s; left to its own thread",
                        this,
                        2 * CLOSE_MAX.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return template + " at " + settings.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG);
    }

    private boolean offer(ProducerSession open, Sending sending) {
        return open.offer(sending.record, error -> {
            Outcome ending = open.ending();
            if (error == null) {
                sending.answer.complete(Outcome.accepted());
            } else if (ending != null) {
                // Whatever the producer says about what it could not send any more, no message is to blame.
                sending.answer.complete(ending);
            } else {
                Verdict verdict = Verdict.of(error, sending.record.topic(), template);
                if (verdict.producerSpent()) {
                    spend(open, error);
                }
                sending.answer.complete(verdict.outcome());
            }
        });
    }

    private void spend(ProducerSession open, Exception error) {
        if (open.spend()) {
            LOG.warn("replacing the producer for {}: {}", this, Verdict.fact(error));
        }
    }

    private void leaveToOpener(Sending sending) {
        Outcome refusal = null;
        synchronized (waiting) {
            if (closed) {
                refusal = refuseClosed();
            } else if (waitingCount >= WAITING_MAX) {
                refusal = Verdict.unavailable(
                        Verdict.BUSY,
                        "could not write to Kafka: " + waitingCount
                                + " messages wait for a topic or for room in the producer's buffer, the limit is "
                                + WAITING_MAX);
            } else {
                if (waiting.isEmpty()) {
                    opener.execute(this::openTopics);
                }
                waitingCount++;
                waiting.computeIfAbsent(sending.record.topic(), absent -> new ArrayList<>())
                        .add(sending);
            }
        }
        if (refusal != null) {
            sending.answer.complete(refusal);
        }
    }

    /** Asks for all topics that are waited for, round after round, until nobody waits. Runs in the opener. */
    private void openTopics() {
        Set<String> topics = waitedFor();
        while (!topics.isEmpty()) {
            try {
                ProducerSession open = openSession();
                topics.stream().filter(this::isWaitedFor).forEach(topic -> openTopic(open, topic));
            } catch (Throwable e) {
                // An Error too: whoever waits must be answered, and the next one must find the opener able to run.
                askedSince.clear();
                answer(
                        takeAll(),
                        Verdict.unavailable(
                                Verdict.NO_PRODUCER,
                                "could not make a Kafka producer for " + this + ": " + Verdict.fact(e)));
            }
            topics = waitedFor();
            if (!topics.isEmpty()) {
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    /** Sends what waits for the topic if the producer knows it by now, or gives up on it if that took too long. */
    private void openTopic(ProducerSession open, String topic) {
        long since = askedSince.computeIfAbsent(topic, absent -> System.nanoTime());
        try {
            TimeoutException unknown = open.ask(topic);
            if (unknown == null) {
                askedSince.remove(topic);
                sendAll(open, take(topic));
            } else if (isOver(since)) {
                throw new TimeoutException(
                        "topic is not known after " + waitMax.toMillis() + " ms", unknown.getCause());
            }
        } catch (RuntimeException e) {
            Verdict verdict = Verdict.of(e, topic, template);
            if (verdict.producerSpent()) {
                spend(open, e);
            }
            if (verdict.outcome() instanceof Outcome.Unavailable) {
                // Kafka is away; the other topics need not find that out one by one.
                askedSince.clear();
                answer(takeAll(), verdict.outcome());
            } else {
                askedSince.remove(topic);
                answer(take(topic), verdict.outcome());
            }
        }
    }

    private void sendAll(ProducerSession open, List<Sending> all) {
        int sent = 0;
        // Progress gives the next one its full time again; if there is none, the rest need not wait one after another.
        while (sent < all.size() && awaitRoom(open, all.get(sent))) {
            sent++;
        }
        Outcome full = Verdict.unavailable(
                Verdict.BUFFER_FULL,
                "could not write to Kafka: the producer's buffer has had no room for " + waitMax.toMillis()
                        + " ms; it will be sent again");
        answer(all.subList(sent, all.size()), full);
    }

    private boolean awaitRoom(ProducerSession open, Sending sending) {
        long start = System.nanoTime();
        while (!offer(open, sending)) {
            if (isOver(start)) {
                return false;
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
        return true;
    }

    private boolean isOver(long start) {
        synchronized (waiting) {
            return closed || System.nanoTime() - start >= waitMax.toNanos();
        }
    }

    private ProducerSession openSession() {
        closeIfSilent();
        ProducerSession open = session;
        if (open != null && !open.isSpent()) {
            return open;
        }
        // Before the next one is made: a late request of the old one must not overtake a record of the new one.
        closeSession(
                CLOSE_MAX,
                Verdict.unavailable(Verdict.NO_ANSWER, "could not write to Kafka: the producer was replaced"));
        open = new ProducerSession(settings);
        session = open;
        if (!watching) {
            watching = true;
            opener.scheduleWithFixedDelay(
                    this::closeIfSilent, SILENCE_LOOK.toMillis(), SILENCE_LOOK.toMillis(), TimeUnit.MILLISECONDS);
        }
        return open;
    }

    /** Runs in the opener. */
    private void closeIfSilent() {
        ProducerSession open = session;
        Duration limit = deliveryTimeout.plus(SILENCE_MARGIN);
        if (open == null || open.isSpent() || !open.isSilent(limit)) {
            return;
        }
        String fact = "no record was answered for " + limit.toMillis() + " ms";
        if (open.spend()) {
            LOG.warn("replacing the producer for {}: {}", this, fact);
        }
        closeSession(
                deliveryTimeout.compareTo(CLOSE_MAX) < 0 ? deliveryTimeout : CLOSE_MAX,
                Verdict.unavailable(
                        Verdict.NO_ANSWER, "could not write to Kafka: " + fact + "; the message is sent again"));
    }

    private void closeSession(Duration timeout, Outcome left) {
        ProducerSession open = session;
        session = null;
        if (open != null) {
            open.close(timeout, left);
        }
    }

    private Set<String> waitedFor() {
        synchronized (waiting) {
            return Set.copyOf(waiting.keySet());
        }
    }

    private boolean isWaitedFor(String topic) {
        synchronized (waiting) {
            return waiting.containsKey(topic);
        }
    }

    private List<Sending> take(String topic) {
        synchronized (waiting) {
            List<Sending> taken = waiting.remove(topic);
            waitingCount -= taken == null ? 0 : taken.size();
            return taken == null ? List.of() : taken;
        }
    }

    private List<Sending> takeAll() {
        synchronized (waiting) {
            List<Sending> taken =
                    waiting.values().stream().flatMap(List::stream).toList();
            waiting.clear();
            waitingCount = 0;
            return taken;
        }
    }

    private static void answer(List<Sending> all, Outcome outcome) {
        all.forEach(sending -> sending.answer.complete(outcome));
    }

    private static Outcome refuseClosed() {
        return Verdict.unavailable(Verdict.CLOSED, "could not write to Kafka: the sink is closed");
    }

    private record Sending(ProducerRecord<byte[], byte[]> record, CompletableFuture<Outcome> answer) {}
}
