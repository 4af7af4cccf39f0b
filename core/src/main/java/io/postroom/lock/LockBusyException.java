package io.postroom.lock;

import io.postroom.PostroomException;
import java.time.Duration;
import java.util.List;

/** A lock was waited for, and whoever holds it did not let go in time. The transaction can go on without it. */
public final class LockBusyException extends PostroomException {
    private static final long serialVersionUID = 1L;

    private final String name;

    LockBusyException(String name, Duration waited, List<Integer> holders, String suspicion) {
        super(
                "lock.busy",
                "could not hold lock " + LockName.shown(name) + ": " + who(holders) + ", waited " + waited.toMillis()
                        + " ms; try again later, or wait longer" + suspicion);
        this.name = name;
    }

    public String name() {
        return name;
    }

    private static String who(List<Integer> holders) {
        return holders.isEmpty()
                ? "another transaction had it until just now"
                : "the transaction of PostgreSQL process " + holders.get(0) + " has it";
    }
}
