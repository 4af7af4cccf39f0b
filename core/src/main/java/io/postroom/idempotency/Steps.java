package io.postroom.idempotency;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.sql.Connection;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The steps of one key, in the hands of whoever holds its lease.
 *
 * <p>Each step is one transaction that changes what it wants to and notes, under the fence, that it is done and what it returned: both
 * or neither. For one thread.
 */
public final class Steps {
    public static final int STEPS_MAX = 100;

    /** How many characters all steps of a key return together. */
    public static final int VALUES_LENGTH_MAX = 65_536;

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");

    private final Database database;
    private final StepTable table;
    private final StepTable.Held held;
    private final KeyPolicy policy;
    private final boolean resumed;
    private final AtomicBoolean lost = new AtomicBoolean();
    private Recovery recovery;
    private int next;
    private @Nullable Answer answer;

    Steps(
            Database database,
            StepTable table,
            StepTable.Held held,
            KeyPolicy policy,
            Recovery recovery,
            boolean resumed) {
        this.database = database;
        this.table = table;
        this.held = held;
        this.policy = policy;
        this.recovery = recovery;
        this.resumed = resumed;
    }

    /** What a step does; what it returns is given again when the procedure is run again. */
    @FunctionalInterface
    public interface Work<E extends Exception> {
        String run(Connection tx) throws E;
    }

    public IdempotencyKey key() {
        return held.key();
    }

    /** What the first request with this key gave for those who go on. */
    public Optional<String> input() {
        return Optional.ofNullable(recovery.input());
    }

    /** Whether somebody has begun before and went away. */
    public boolean isResumed() {
        return resumed;
    }

    /** How many steps are done. */
    public int done() {
        return recovery.steps().size();
    }

    /**
     * Does a step, or gives what it returned if it is done.
     *
     * @param name one of its own among the steps of the procedure
     * @throws LeaseLostException if another goes on with this key; nothing of this step has happened
     */
    public <E extends Exception> String step(String name, Work<E> work) throws E {
        requireName(name);
        if (answer != null) {
            throw refused("steps-over", name, "its answer is stored already; let the answer be the last step");
        }
        if (next < done()) {
            Recovery.Done before = recovery.steps().get(next);
            if (!before.name().equals(name)) {
                throw refused(
                        "steps-changed",
                        name,
                        "step " + (next + 1) + " was " + before.name()
                                + " when it was done; let the procedure take the same steps in the same order, or release the"
                                + " key with --forget");
            }
            next++;
            return before.value();
        }
        if (done() == STEPS_MAX) {
            throw refused(
                    "steps-too-many",
                    name,
                    STEPS_MAX + " steps are done, which is the limit; do more in each, or begin another request for the"
                            + " rest");
        }
        Recovery after = transact(name, tx -> {
            Recovery noted = noted(name, carried(() -> work.run(tx)));
            database.answerPromptly(tx);
            require(table.advance(tx, held, done(), name, noted.write(), policy), name);
            return noted;
        });
        recovery = after;
        next++;
        return recovery.steps().get(next - 1).value();
    }

    /**
     * The last step: what it changes and the answer are committed together. A failure is not stored here; what it changed is rolled
     * back.
     */
    public <E extends Exception> Answer answer(Command<E> command) throws E {
        if (answer != null) {
            throw refused("steps-over", "answer", "it is stored already; answer once");
        }
        if (next < done()) {
            throw refused(
                    "steps-changed",
                    "answer",
                    "there were " + done() + " steps when they were done, now " + next
                            + "; let the procedure take the same steps in the same order, or release the key with"
                            + " --forget");
        }
        try {
            Answer given = this.<Answer, E>transact("answer", tx -> {
                Answer found = carried(() -> command.run(tx));
                if (found.isFailure()) {
                    throw new Failed(found);
                }
                database.answerPromptly(tx);
                require(table.finish(tx, held, done(), found, policy), "answer");
                return found;
            });
            answer = given;
            return given;
        } catch (Failed e) {
            return e.answer;
        }
    }

    private <T, E extends Exception> T transact(String name, Database.Work<T> work) throws E {
        if (lost.get()) {
            throw new LeaseLostException(held.key(), held.fence(), name);
        }
        try {
            return database.transact(tx -> {
                database.promptly(tx, () -> table.limitIdle(tx, policy.idleMax()));
                return work.run(tx);
            });
        } catch (Carried e) {
            throw e.<E>unwrap();
        }
    }

    private void require(boolean isOurs, String name) {
        if (!isOurs) {
            lost.set(true);
            throw new LeaseLostException(held.key(), held.fence(), name);
        }
    }

    private Recovery noted(String name, String value) {
        int length = recovery.length() + value.length();
        if (length > VALUES_LENGTH_MAX || value.indexOf('\0') >= 0) {
            throw refused(
                    "step-value-invalid",
                    name,
                    "what it returned makes " + length + " characters in all, the limit is " + VALUES_LENGTH_MAX
                            + " without U+0000; keep what is larger in a table of your own and return its id");
        }
        return recovery.plus(name, value);
    }

    private interface Throwing<T> {
        T run() throws Exception;
    }

    private static <T> T carried(Throwing<T> work) {
        try {
            return work.run();
        } catch (Exception e) {
            throw new Carried(e);
        }
    }

    private void requireName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw refused(
                    "step-invalid",
                    "'" + name.replaceAll("[^\\x20-\\x7e]", "?") + "'",
                    "its name must be 1 to 100 lower-case letters, digits or _ . -, beginning with a letter");
        }
    }

    private PostroomException refused(String code, String name, String fact) {
        return new PostroomException(
                "idempotency." + code, "could not do step " + name + " of " + held.key() + ": " + fact);
    }

    StepTable.Held held() {
        return held;
    }

    /** What the last step has stored. */
    @Nullable
    Answer answered() {
        return answer;
    }

    boolean isLost() {
        return lost.get();
    }

    /** Another has the key; heard by whoever renews the lease. */
    void lose() {
        lost.set(true);
    }

    /** The last step has failed: rolls its transaction back. */
    private static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient Answer answer;

        private Failed(Answer answer) {
            super(null, null, false, false);
            this.answer = answer;
        }
    }
}
