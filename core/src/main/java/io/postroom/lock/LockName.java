package io.postroom.lock;

import io.postroom.PostroomException;

/** The rules for names; those of the SQL function {@code check_lock}. */
final class LockName {
    private static final int SHOWN_MAX = 60;

    private LockName() {}

    static String check(String name) {
        int length = name.codePointCount(0, name.length());
        // Half of a surrogate pair would reach PostgreSQL as a question mark, and two names would be one.
        boolean fits = length >= 1
                && length <= Locks.NAME_LENGTH_MAX
                && name.codePoints()
                        .noneMatch(
                                each -> Character.isISOControl(each) || Character.getType(each) == Character.SURROGATE);
        if (!fits) {
            throw new PostroomException(
                    "lock.name-invalid",
                    "could not use lock " + shown(name) + ": its name is of " + length + " characters, it must be 1 to "
                            + Locks.NAME_LENGTH_MAX + " without control characters");
        }
        return name;
    }

    /** A name for an error or a log. */
    static String shown(String name) {
        String cut = name.codePointCount(0, name.length()) > SHOWN_MAX
                ? name.substring(0, name.offsetByCodePoints(0, SHOWN_MAX)) + "…"
                : name;
        return "'" + cut.replaceAll("[\\p{Cntrl}\\p{Cs}]", "?") + "'";
    }
}
