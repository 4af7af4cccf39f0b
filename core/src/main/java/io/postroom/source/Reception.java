package io.postroom.source;

import io.postroom.PostroomException;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Retention;
import io.postroom.journal.Journal;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.relay.Projection;
import io.postroom.retry.Backoff;
import io.postroom.retry.Decision;
import io.postroom.retry.RetryPolicy;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies what a source is brought by its broker: in batches, each one transaction with the inbox, down to the message at fault, which
 * is tried again as the policy says and then buried.
 *
 * <p>A message that was handled has taken effect, once, or is a dead letter; only then may its broker be told. If the process dies
 * before that, the message comes again and the inbox knows it. Safe for use by many threads, each with messages of its own.
 */
public final class Reception {
    /** The word for Kafka: who serves a subscription, and whose dead letters they are. */
    public static final String KAFKA = "kafka";

    private static final Logger LOG = LoggerFactory.getLogger(Reception.class);

    private static final Backoff TROUBLE = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(5));
    private static final Backoff PROBE = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));

    private final String consumer;
    private final String node;
    private final RetryPolicy retry;
    private final int batchMax;
    private final Telemetry telemetry;
    private final Application application;
    private final Undertaker undertaker;
    private final Redriving redriving;
    private final Watch watch;
    private final Account account;

    private Reception(Builder builder, Projection projection) {
        this.consumer = builder.consumer;
        this.node = builder.node;
        this.retry = builder.retry;
        this.batchMax = builder.batchMax;
        this.telemetry = builder.telemetry;
        telemetry.serves(consumer);
        ReceptionTable table = new ReceptionTable(builder.database.schema());
        this.watch = new Watch(consumer, builder.deadline);
        this.account = new Account(builder.database, new OffsetTable(builder.database.schema()), consumer);
        this.application = new Application(
                builder.database,
                table,
                builder.inbox,
                builder.journal,
                consumer,
                projection,
                builder.deadline,
                new Semaphore(builder.transactionsMax),
                watch,
                account);
        this.undertaker = new Undertaker(table, consumer, node, telemetry);
        this.redriving = new Redriving(builder.database, table, application, undertaker, retry, node, builder.reader);
    }

    /** Whoever has messages to be handled. Its methods are called by the thread that handles them. */
    public interface Caller {
        /** Whether it still wants the rest. */
        boolean goesOn();

        /** Waits, but not longer than it wants the rest. */
        void pause(Duration time) throws InterruptedException;

        /** So many more of the messages are done with, in their order. */
        void handled(int arrivals);

        /** How far its partition will be when so many more are done with; null: nobody keeps account of it. */
        default @Nullable Mark mark(int arrivals) {
            return null;
        }

        /** So many of those that come next may have ended the process that had them before: each is tried alone. */
        default int suspects() {
            return 0;
        }

        /** Somebody else has brought its partition to this offset; what follows is found to be done, or is still to do. */
        default void overtaken(long next) {}
    }

    public String consumer() {
        return consumer;
    }

    /** Takes note that this consumer receives from now on. For one that has declared how long it remembers. */
    public void begin() {
        application.database().run(tx -> {
            application.table().beginReceiving(tx, consumer);
            return true;
        });
    }

    /** How far this consumer is in its partitions, by {@code topic/partition}; those in which it has not begun are missing. */
    public Map<String, Progress> progress() {
        return account.progress();
    }

    /** Goes on from there, wherever it was: it begins, or the broker no longer has what lies there. */
    public void beginAt(List<Progress> all) {
        account.put(all);
    }

    /**
     * This process has these partitions from now on. Returns those that whoever had them before did not leave in peace: up to
     * {@link #batchMax} of the messages that come next were in its hands, and one of them may have ended it.
     */
    public Set<String> hold(Collection<String> partitions) {
        return account.hold(partitions);
    }

    /** Leaves partitions in peace: nothing of them is open. */
    public void release(Collection<String> partitions) {
        account.release(partitions);
    }

    /** How many messages go together at most. */
    public int batchMax() {
        return batchMax;
    }

    /** Notes that there is nothing to apply before an offset. Returns how far the partition is: further, if somebody else has gone on. */
    public long pass(Mark mark) {
        try {
            return application.database().transact(tx -> {
                account.advance(tx, mark);
                return mark.next();
            });
        } catch (OvertakenException e) {
            return e.next();
        }
    }

    /**
     * Requires that the database still knows of what took effect. To be called again and again, also while nothing comes.
     *
     * @param expected how far each partition was, taken before
     */
    public void requireNotBack(Map<String, Long> expected) {
        account.require(expected);
    }

    /**
     * Since when its inbox remembers all that it has accepted; nothing if it has forgotten nothing yet. What a broker has from before
     * then may have taken effect: whoever does not know how far it was must not begin earlier.
     */
    public Optional<Instant> rememberedSince() {
        return application
                .database()
                .run(tx -> application.table().rememberedSince(tx, consumer, Retention.USUAL.kept()));
    }

    /**
     * Whether messages for this consumer are to come from a broker: there is no subscription of its name, or it was moved there.
     *
     * @throws PostroomException if it was moved for another group or other topics: what this one would be brought is not what the cut
     *     has left to it
     */
    public boolean isServed(String group, List<String> topics) {
        ReceptionTable.Server server = application.server().orElse(null);
        if (server == null) {
            return true;
        }
        if (!server.servedBy().equals(KAFKA)) {
            return false;
        }
        if (server.group() != null
                && !(server.group().equals(group) && Set.copyOf(server.topics()).equals(Set.copyOf(topics)))) {
            throw new PostroomException(
                    "source.other-group",
                    "subscription " + consumer + " was moved to Kafka for group " + server.group() + " and topics "
                            + server.topics() + ", this source has group " + group + " and topics " + topics
                            + ": it would begin somewhere else; give it the same, or move the subscription to postgres and back");
        }
        return true;
    }

    /**
     * Handles messages of one key after the other, in the order given. Returns when all are handled or the caller wants no more.
     *
     * @throws NotServedException if the subscription is served by somebody else; what was not handled must come again
     * @throws WentBackException if the database has lost what took effect; it must be brought again from where the database is
     */
    public void receive(List<Arrival> arrivals, Caller caller) throws InterruptedException {
        List<Application.Item> items = arrivals.stream().map(application::read).toList();
        Course course = new Course(consumer, node, retry, batchMax);
        int next = 0;
        while (next < items.size() && caller.goesOn()) {
            boolean suspect = caller.suspects() > 0;
            List<Application.Item> batch = batch(items, next, suspect ? 1 : course.max());
            if (suspect && course.isToBeCounted()) {
                Trial.Verdict crashed = count(course, caller);
                if (crashed != null) {
                    telemetry.failed(failure(batch.get(0), course.trial(), crashed, Duration.ZERO));
                    if (settle(batch.get(0), course, crashed, caller)) {
                        next++;
                        course.begin();
                        caller.handled(1);
                    }
                    continue;
                }
            }
            Outage outage = course.outage(batch.get(0));
            long began = System.nanoTime();
            Application.Result result = application.apply(batch, course.trial().attempts() + 1, caller);
            if (result == Application.Result.ABANDONED) {
                return;
            }
            if (result == Application.Result.OVERTAKEN) {
                continue;
            }
            if (result.isApplied()) {
                next += batch.size();
                outage.isOver();
                telemetry.delivered(consumer, batch.size());
                accepted(batch, course.trial().attempts() + 1, System.nanoTime() - began);
                course.goesWell();
                caller.handled(batch.size());
            } else if (result.isTrouble() || result.isDisturbed() && !course.isBlamed(batch.size(), began)) {
                outage.goesOn(result.thrown());
                caller.pause(TROUBLE.after(course.failed()));
            } else if (batch.size() > 1) {
                course.halve(batch.size());
            } else {
                Duration took = Duration.ofNanos(System.nanoTime() - began);
                if (course.trial().attempts() == 0) {
                    course.resume(account.failedAttempts(caller.mark(1)));
                }
                Trial.Verdict verdict = course.trial().judge(Objects.requireNonNull(result.thrown()), took);
                telemetry.failed(failure(batch.get(0), course.trial(), verdict, took));
                if (settle(batch.get(0), course, verdict, caller)) {
                    next++;
                    course.begin();
                    caller.handled(1);
                }
            }
        }
    }

    /** Counts an attempt that is about to be made, in case that it ends this process. Not null: there were enough that did so. */
    private Trial.@Nullable Verdict count(Course course, Caller caller) {
        Mark mark = caller.mark(1);
        course.resume(account.failedAttempts(mark));
        Trial.Verdict crashed = course.trial().crashed().orElse(null);
        if (crashed == null) {
            account.noteFailedAttempts(mark, course.trial().attempts() + 1);
        }
        return crashed;
    }

    /**
     * Applies one dead letter that an operator has redriven, if there is one.
     *
     * @return whether there was one
     * @throws NotServedException if the subscription is served by somebody else
     */
    public boolean redrive() {
        return redriving.once();
    }

    /** Interrupts projections that do not come back in time, and says so. To be called again and again. */
    public void watch() {
        watch.look();
    }

    /** What goes together: messages that have not failed, or one that cannot be read. */
    private static List<Application.Item> batch(List<Application.Item> items, int next, int max) {
        int end = next + 1;
        if (items.get(next).unreadable() == null) {
            while (end < items.size() && end - next < max && items.get(end).unreadable() == null) {
                end++;
            }
        }
        return items.subList(next, end);
    }

    /** Waits, or gives the message up. Returns whether it is done with. */
    private boolean settle(Application.Item item, Course course, Trial.Verdict verdict, Caller caller)
            throws InterruptedException {
        Trial trial = course.trial();
        int failures = course.failed();
        if (verdict.decision() instanceof Decision.TryAgain again) {
            log(item, trial, verdict, "trying again in " + again.after().toMillis() + " ms");
            account.noteFailedAttempts(caller.mark(1), trial.attempts());
            caller.pause(again.after());
            return false;
        }
        if (verdict.decision() instanceof Decision.Unavailable) {
            log(item, trial, verdict, "it is not the message's fault, no attempt is counted");
            if (caller.suspects() > 0) {
                account.noteFailedAttempts(caller.mark(1), trial.attempts());
            }
            caller.pause(PROBE.after(failures));
            return false;
        }
        Decision.GiveUp over = (Decision.GiveUp) verdict.decision();
        log(item, trial, verdict, "buried: " + over.why());
        Outage outage = course.outage(item);
        for (int tries = 1; caller.goesOn(); tries++) {
            Application.Result result = application.bury(grave -> undertaker.bury(grave, item, trial, verdict), caller);
            if (result.isApplied()) {
                outage.isOver();
                return true;
            }
            if (result == Application.Result.OVERTAKEN) {
                // Whoever was faster has applied it or given it up: the next try finds out.
                return false;
            }
            if (result != Application.Result.ABANDONED) {
                outage.goesOn(result.thrown());
                caller.pause(TROUBLE.after(tries));
            }
        }
        return false;
    }

    private void accepted(List<Application.Item> batch, int attempt, long tookNanos) {
        long now = System.currentTimeMillis();
        for (Application.Item item : batch) {
            Instant occurredAt = item.arrival().envelope().message().occurredAt();
            telemetry.accepted(consumer, attempt, tookNanos, Math.max(0, now - occurredAt.toEpochMilli()));
        }
    }

    private Telemetry.Failure failure(Application.Item item, Trial trial, Trial.Verdict verdict, Duration took) {
        return new Telemetry.Failure(
                consumer,
                item.arrival().envelope().message().eventType(),
                verdict.word(),
                verdict.fault().errorClass(),
                Math.max(1, trial.attempts()),
                took.toNanos());
    }

    private void log(Application.Item item, Trial trial, Trial.Verdict verdict, String next) {
        LOG.warn(
                "could not apply message {} from {} for consumer {}, attempt {}: {}: {}; {}",
                item.arrival().envelope().message().id(),
                item.arrival().place(),
                consumer,
                trial.attempts(),
                verdict.fault().errorClass(),
                verdict.fault().message(),
                next);
    }

    /** Collects a reception; {@link #build} reports every problem at once. */
    public static final class Builder {
        private static final Pattern CONSUMER = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");

        private final Database database;
        private final Inbox inbox;
        private final Journal journal;
        private final Telemetry telemetry;
        private String consumer = "";
        private String node = "source";
        private RetryPolicy retry = RetryPolicy.STANDARD;
        private Duration deadline = Duration.ofSeconds(60);
        private int batchMax = 500;
        private int transactionsMax = 8;
        private Function<Message, Arrival> reader = Builder::unread;

        public Builder(Database database, Inbox inbox, Journal journal, Telemetry telemetry) {
            this.database = database;
            this.inbox = inbox;
            this.journal = journal;
            this.telemetry = telemetry;
        }

        /** Whose inbox it is; the name of a subscription if messages are to be moved between relays and a broker. */
        public Builder consumer(String consumer) {
            this.consumer = consumer;
            return this;
        }

        /** How operators call this process; a host or pod name is a good one. */
        public Builder node(String node) {
            this.node = node;
            return this;
        }

        public Builder retry(RetryPolicy retry) {
            this.retry = Objects.requireNonNull(retry, "retry");
            return this;
        }

        /** How long the projection may take over a batch before it is interrupted, and each statement of it; 60 s unless given. */
        public Builder deadline(Duration deadline) {
            this.deadline = deadline;
            return this;
        }

        /** How many messages one transaction takes on; 500 unless given. */
        public Builder batchMax(int messages) {
            this.batchMax = messages;
            return this;
        }

        /** How many transactions are open at once in this process; 8 unless given. */
        public Builder transactionsMax(int transactions) {
            this.transactionsMax = transactions;
            return this;
        }

        /**
         * How what was no message is read once more when its dead letter is redriven. It is given what an unreadable arrival held, with the
         * operator's patch if there is one, and answers with an arrival that may be unreadable again; it never throws.
         */
        public Builder reader(Function<Message, Arrival> reader) {
            this.reader = Objects.requireNonNull(reader, "reader");
            return this;
        }

        private static Arrival unread(Message whole) {
            return new Arrival(
                    whole.aggregateId(),
                    new Envelope(1, whole, 1),
                    false,
                    Unreadable.fault(
                            "what was received is no message, and this process does not read it again; read it with"
                                    + " postroom deadletter show and discard it"));
        }

        public Reception build(Projection projection) {
            List<String> problems = new ArrayList<>();
            check(
                    CONSUMER.matcher(consumer).matches(),
                    "consumer is '" + consumer
                            + "', it must be a lower-case letter and up to 99 letters, digits or _ . -",
                    problems);
            check(
                    !node.isBlank() && node.length() <= 200,
                    "node is '" + node + "', it must be 1 to 200 characters",
                    problems);
            check(
                    deadline.compareTo(Duration.ofMillis(100)) >= 0 && deadline.compareTo(Duration.ofHours(1)) <= 0,
                    "deadline is " + deadline + ", the range is 100 ms to 1 h",
                    problems);
            check(
                    batchMax >= 1 && batchMax <= Inbox.BATCH_MAX,
                    "batch is " + batchMax + " messages, the range is 1 to " + Inbox.BATCH_MAX,
                    problems);
            check(
                    transactionsMax >= 1 && transactionsMax <= 1_000,
                    "there are " + transactionsMax + " transactions at once, the range is 1 to 1000",
                    problems);
            check(
                    !projection.isBehindInbox(),
                    "the projection is behind an inbox already and would get nothing; give it as it is",
                    problems);
            if (!problems.isEmpty()) {
                throw new PostroomException(
                        "source.invalid", "could not make source " + consumer + ": " + String.join("; ", problems));
            }
            return new Reception(this, projection);
        }

        private static void check(boolean holds, String problem, List<String> problems) {
            if (!holds) {
                problems.add(problem);
            }
        }
    }
}
