package io.postroom.relay;

import io.postroom.journal.Journal;
import java.time.Instant;

/** Where a new subscription begins. An existing one goes on where it was, whatever is said here. */
public sealed interface Start {

    /** With the oldest message there is. */
    record Beginning() implements Start {
        @Override
        public long position(Journal journal) {
            return 0;
        }
    }

    /** With what is committed from now on. */
    record Now() implements Start {
        @Override
        public long position(Journal journal) {
            journal.stampAll();
            return journal.refreshHead().position();
        }
    }

    /** After a position. */
    record After(long position) implements Start {
        public After {
            if (position < 0) {
                throw new IllegalArgumentException("position is " + position + ", the least is 0");
            }
        }

        @Override
        public long position(Journal journal) {
            return position;
        }
    }

    /** With what was stamped from a time on. */
    record Since(Instant time) implements Start {
        @Override
        public long position(Journal journal) {
            return journal.positionAt(time);
        }
    }

    /** The position after which to begin. */
    long position(Journal journal);

    static Start beginning() {
        return new Beginning();
    }

    static Start now() {
        return new Now();
    }

    static Start after(long position) {
        return new After(position);
    }

    static Start since(Instant time) {
        return new Since(time);
    }
}
