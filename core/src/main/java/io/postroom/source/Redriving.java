package io.postroom.source;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.relay.OutcomeException;
import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.retry.RetryPolicy;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies dead letters that an operator has redriven, one at a time: in one transaction with the inbox and with the end of its row. Any
 * process of the consumer may; two never take the same. What was no message is read once more: this process may know better, or the
 * operator has patched it. Safe for use by many threads.
 */
record Redriving(
        Database database,
        ReceptionTable table,
        Application application,
        Undertaker undertaker,
        RetryPolicy retry,
        String node,
        Function<Message, Arrival> reader) {
    private static final Logger LOG = LoggerFactory.getLogger(Redriving.class);
    /** How long one is left alone that cannot be applied for no fault of its own. */
    private static final Duration ASIDE = Duration.ofSeconds(5);

    /** Returns whether there was one. */
    boolean once() {
        ReceptionTable.@Nullable Redriven[] taken = {null};
        boolean[] done = {false};
        long began = System.nanoTime();
        try {
            return database.transact(tx -> {
                Application.Entry entry = application.enter(tx);
                Optional<ReceptionTable.Redriven> found = table.takeRedriven(tx, application.consumer());
                if (found.isEmpty()) {
                    return false;
                }
                taken[0] = found.get();
                apply(tx, found.get(), entry);
                done[0] = true;
                return true;
            });
        } catch (NotServedException e) {
            throw e;
        } catch (RuntimeException e) {
            ReceptionTable.Redriven redriven = taken[0];
            if (redriven == null) {
                throw e;
            }
            Application.Result result = e instanceof NotAppliedException
                    ? new Application.Result(e.getCause(), true)
                    : Application.thrown(e, done[0]);
            failed(redriven, result, Duration.ofNanos(System.nanoTime() - began));
            return true;
        }
    }

    private void apply(Connection tx, ReceptionTable.Redriven redriven, Application.Entry entry) {
        Application.Item item = application.read(arrival(redriven));
        if (item.unreadable() != null) {
            throw new NotAppliedException(new OutcomeException(item.unreadable()));
        }
        Message message = item.arrival().envelope().message();
        if (redriven.unreadable() && !entry.filter().wants(message)) {
            LOG.info(
                    "redriven dead letter {} is message {}, which consumer {} does not want",
                    redriven.deadLetter(),
                    message.id(),
                    application.consumer());
        } else {
            application.project(tx, List.of(item), redriven.attempts() + 1);
        }
        table.endRedriven(tx, redriven.deadLetter());
    }

    private Arrival arrival(ReceptionTable.Redriven redriven) {
        if (redriven.unreadable()) {
            Arrival read = reader.apply(redriven.message());
            Envelope envelope = read.envelope();
            return new Arrival(
                    read.place(),
                    new Envelope(envelope.position(), envelope.message(), redriven.attempts() + 1),
                    read.sequenced(),
                    read.unreadable());
        }
        Envelope envelope = new Envelope(Math.max(1, redriven.position()), redriven.message(), redriven.attempts() + 1);
        return new Arrival("dead letter " + redriven.deadLetter(), envelope, true, null);
    }

    private void failed(ReceptionTable.Redriven redriven, Application.Result result, Duration took) {
        Throwable thrown = Objects.requireNonNull(result.thrown());
        database.transact(tx -> {
            boolean ofSubscription = application.enter(tx).ofSubscription();
            Optional<Integer> attempts = table.lockRedriven(tx, redriven.deadLetter());
            if (attempts.isEmpty() || attempts.get() != redriven.attempts()) {
                // Somebody else has taken it meanwhile.
                return false;
            }
            if (result.isTrouble() || result.isDisturbed()) {
                // Others go first then; it must not keep them from it for ever.
                Fault fault = Fault.of(thrown);
                LOG.warn(
                        "could not apply redriven dead letter {} for consumer {}: {}: {}; it is tried again in {} s",
                        redriven.deadLetter(),
                        application.consumer(),
                        fault.errorClass(),
                        fault.message(),
                        ASIDE.toSeconds());
                table.postponeRedriven(tx, redriven.deadLetter(), redriven.attempts(), ASIDE);
                return false;
            }
            Trial trial = new Trial(retry, node, redriven.attempts());
            Trial.Verdict verdict = trial.judge(thrown, took);
            LOG.warn(
                    "could not apply redriven dead letter {} for consumer {}, attempt {}: {}: {}",
                    redriven.deadLetter(),
                    application.consumer(),
                    trial.attempts(),
                    verdict.fault().errorClass(),
                    verdict.fault().message());
            if (verdict.decision() instanceof Decision.GiveUp) {
                undertaker.buryAgain(
                        new Application.Grave(tx, ofSubscription), readable(redriven, ofSubscription), trial, verdict);
                table.endRedriven(tx, redriven.deadLetter());
            } else {
                Duration after = verdict.decision() instanceof Decision.TryAgain again ? again.after() : ASIDE;
                table.postponeRedriven(tx, redriven.deadLetter(), trial.attempts(), after);
            }
            return true;
        });
    }

    /** What could be read by now is buried as the message that it is, under its own id and key. */
    private ReceptionTable.Redriven readable(ReceptionTable.Redriven redriven, boolean ofSubscription) {
        Arrival read = redriven.unreadable() ? arrival(redriven) : null;
        if (read == null || read.unreadable() != null) {
            return redriven;
        }
        return new ReceptionTable.Redriven(
                redriven.deadLetter(),
                redriven.attempts(),
                read.letterPosition(ofSubscription),
                redriven.place(),
                read.envelope().message(),
                false);
    }
}
