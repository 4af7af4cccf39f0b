package io.postroom.server.message;

/** The transaction that published a message, and how many it published in all, counted up to {@link #MESSAGES_MAX}. */
public record MessageTransaction(String xid, long messages) {
    public static final int MESSAGES_MAX = 1_000;
}
