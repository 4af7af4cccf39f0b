package io.postroom.source;

import io.postroom.PostroomException;

/** The database knows of less than has taken effect: it was restored, or a standby took over that had not got everything. */
public final class WentBackException extends PostroomException {
    private static final long serialVersionUID = 1L;

    WentBackException(String consumer, String partition, long expected, String found) {
        super(
                "source.went-back",
                "could not go on with " + partition + " for consumer " + consumer + " at offset " + expected
                        + ": the database is at " + found
                        + ", so it was restored, or a standby took over that lacks the last"
                        + " commits; what they had applied is applied again from there");
    }
}
