package io.postroom.postgres;

/** The SQLSTATEs that change what we do. */
public final class SqlState {
    public static final String IN_FAILED_TRANSACTION = "25P02";
    public static final String READ_ONLY_TRANSACTION = "25006";
    public static final String IDLE_IN_TRANSACTION = "25P03";
    public static final String LOCK_NOT_AVAILABLE = "55P03";
    public static final String DEADLOCK = "40P01";
    public static final String SERIALIZATION_FAILURE = "40001";
    public static final String UNIQUE_VIOLATION = "23505";
    public static final String NOT_NULL_VIOLATION = "23502";
    public static final String UNDEFINED_TABLE = "42P01";
    public static final String UNDEFINED_FUNCTION = "42883";
    public static final String UNDEFINED_SCHEMA = "3F000";
    public static final String DEPENDENTS = "2BP01";
    public static final String QUERY_CANCELED = "57014";
    public static final String INSUFFICIENT_PRIVILEGE = "42501";

    private SqlState() {}

    /** Connection trouble (class 08), server shutting down or starting (57P), or out of connections (53300). */
    public static boolean isUnreachable(String state) {
        return state.isEmpty() || state.startsWith("08") || state.startsWith("57P") || state.equals("53300");
    }

    /** Ended because of what others did at the same time, or for want of room (53): the same may succeed when done again. */
    public static boolean isDisturbed(String state) {
        return state.equals(SERIALIZATION_FAILURE)
                || state.equals(DEADLOCK)
                || state.equals(LOCK_NOT_AVAILABLE)
                || state.startsWith("53");
    }

    /**
     * Whatever may be over in a while without anybody changing the statement: connection trouble, others, a server that only reads since a
     * failover, a statement that was cancelled or a transaction that stood still for too long, trouble of its machine (58).
     */
    public static boolean isPassing(String state) {
        return isUnreachable(state)
                || isDisturbed(state)
                || state.equals(READ_ONLY_TRANSACTION)
                || state.equals(QUERY_CANCELED)
                || state.equals(IDLE_IN_TRANSACTION)
                || state.startsWith("58");
    }

    /** Nothing of ours is there: the schema was never migrated. */
    public static boolean isMissingSchema(String state) {
        return state.equals(UNDEFINED_TABLE) || state.equals(UNDEFINED_FUNCTION) || state.equals(UNDEFINED_SCHEMA);
    }
}
