package io.postroom.journal;

import io.postroom.PostroomException;

/** The journal ends before a position that this process has seen in it: the database lost commits, or is another one. */
public final class JournalGoneBackException extends PostroomException {
    private static final long serialVersionUID = 1L;

    JournalGoneBackException(long position) {
        super(
                "journal.gone-back",
                "could not read the journal up to position " + position
                        + ": it ends earlier, so the database has lost commits or was"
                        + " replaced; lanes are taken anew from what it knows now");
    }
}
