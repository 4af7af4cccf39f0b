package io.postroom.testkit;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A sink that remembers what it was sent and answers as it was told.
 *
 * <p>It accepts every message unless a rule says otherwise; the newest rule that fits a message decides. What it remembers is
 * gone with the process. Safe for use by many threads.
 */
public final class RecordingSink implements Sink {
    private final Deque<Rule> rules = new ArrayDeque<>();
    private final List<Envelope> attempts = new ArrayList<>();
    private final List<Message> accepted = new ArrayList<>();
    private final List<Held> held = new ArrayList<>();
    private int flushes;
    private boolean closed;

    /** Answers the messages that fit with the given outcome, from now on. */
    public RecordingSink answer(Predicate<? super Message> which, Outcome outcome) {
        return answer(which, outcome, Integer.MAX_VALUE);
    }

    /** Answers the next so many attempts that fit with the given outcome; older rules decide about the attempts after them. */
    public synchronized RecordingSink answer(Predicate<? super Message> which, Outcome outcome, int times) {
        rules.addFirst(new Rule(which, outcome, null, times));
        return this;
    }

    /** Throws out of {@link #send} for the messages that fit, as a careless sink would. */
    public synchronized RecordingSink fail(Predicate<? super Message> which, RuntimeException failure) {
        rules.addFirst(new Rule(which, null, failure, Integer.MAX_VALUE));
        return this;
    }

    /** Gives no answer for the messages that fit until {@link #release} is called. */
    public synchronized RecordingSink hang(Predicate<? super Message> which) {
        rules.addFirst(new Rule(which, null, null, Integer.MAX_VALUE));
        return this;
    }

    /** Answers unavailable to everything until {@link #mend} is called. */
    public RecordingSink breakDown() {
        return answer(message -> true, Outcome.unavailable("told to be unavailable"));
    }

    /** Forgets every rule: from now on everything is accepted. What hangs goes on hanging until it is released. */
    public synchronized RecordingSink mend() {
        rules.clear();
        return this;
    }

    /** Accepts everything that hangs, in the order in which it was sent. */
    public void release() {
        List<Held> released;
        synchronized (this) {
            released = List.copyOf(held);
            held.clear();
            released.forEach(one -> accepted.add(one.message));
            notifyAll();
        }
        // Outside the lock: what depends on an answer may send the next message at once.
        released.forEach(one -> one.answer.complete(Outcome.accepted()));
    }

    @Override
    public synchronized CompletionStage<Outcome> send(Envelope envelope) {
        if (closed) {
            return CompletableFuture.completedFuture(Outcome.unavailable("could not send message "
                    + envelope.message().id() + ": the sink is closed; it will be tried again"));
        }
        attempts.add(envelope);
        notifyAll();
        Message message = envelope.message();
        Rule rule = rule(message);
        if (rule == null) {
            accepted.add(message);
            return CompletableFuture.completedFuture(Outcome.accepted());
        }
        if (rule.failure != null) {
            throw rule.failure;
        }
        if (rule.outcome == null) {
            Held hanging = new Held(message, new CompletableFuture<>());
            held.add(hanging);
            return hanging.answer;
        }
        if (rule.outcome instanceof Outcome.Accepted) {
            accepted.add(message);
        }
        return CompletableFuture.completedFuture(rule.outcome);
    }

    private @Nullable Rule rule(Message message) {
        for (Iterator<Rule> each = rules.iterator(); each.hasNext(); ) {
            Rule rule = each.next();
            if (rule.which.test(message)) {
                rule.timesLeft--;
                if (rule.timesLeft == 0) {
                    each.remove();
                }
                return rule;
            }
        }
        return null;
    }

    @Override
    public synchronized void flush() {
        flushes++;
    }

    @Override
    public synchronized void close() {
        closed = true;
    }

    /** Every envelope that was sent, in order, whatever the answer was. */
    public synchronized List<Envelope> attempts() {
        return List.copyOf(attempts);
    }

    /** Every message that was accepted, in the order in which it was; twice if it was accepted twice. */
    public synchronized List<Message> accepted() {
        return List.copyOf(accepted);
    }

    /** The accepted messages about one aggregate, in order. */
    public List<Message> accepted(String aggregateId) {
        return accepted().stream()
                .filter(message -> message.aggregateId().equals(aggregateId))
                .toList();
    }

    /** How many messages hang at the moment. */
    public synchronized int hanging() {
        return held.size();
    }

    public synchronized int flushes() {
        return flushes;
    }

    public synchronized boolean closed() {
        return closed;
    }

    /** Forgets what was sent and accepted; rules stay. */
    public synchronized void forget() {
        attempts.clear();
        accepted.clear();
    }

    /** Waits until so many messages were accepted; says what is missing if they are not in time. */
    public List<Message> awaitAccepted(int count, Duration timeout) throws InterruptedException {
        return await(accepted, "accepted messages", count, timeout);
    }

    /** Waits until so many attempts were made. */
    public List<Envelope> awaitAttempts(int count, Duration timeout) throws InterruptedException {
        return await(attempts, "attempts", count, timeout);
    }

    private synchronized <T> List<T> await(List<T> seen, String what, int count, Duration timeout)
            throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (seen.size() < count) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError(
                        "expected " + count + " " + what + " within " + timeout + ", got " + seen.size());
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return List.copyOf(seen);
    }

    @Override
    public synchronized String toString() {
        return "recording sink (" + attempts.size() + " attempts, " + accepted.size() + " accepted)";
    }

    /** A message that waits for {@link RecordingSink#release}. */
    private record Held(Message message, CompletableFuture<Outcome> answer) {}

    /** What to answer to which messages; with neither outcome nor failure there is no answer. */
    private static final class Rule {
        private final Predicate<? super Message> which;
        private final @Nullable Outcome outcome;
        private final @Nullable RuntimeException failure;
        private int timesLeft;

        private Rule(
                Predicate<? super Message> which,
                @Nullable Outcome outcome,
                @Nullable RuntimeException failure,
                int timesLeft) {
            this.which = which;
            this.outcome = outcome;
            this.failure = failure;
            this.timesLeft = timesLeft;
        }
    }
}
