package io.postroom.subscription;

import io.postroom.journal.Journal;
import java.time.Instant;

/** A place in the journal as an operator names it. */
public sealed interface Point {

    /** Before the oldest message there is. */
    record Beginning() implements Point {
        @Override
        public long before(Journal journal) {
            return 0;
        }

        @Override
        public long upTo(Journal journal) {
            return 0;
        }

        @Override
        public String toString() {
            return "beginning";
        }
    }

    /** After everything that has a position by now. */
    record Now() implements Point {
        @Override
        public long before(Journal journal) {
            return journal.refreshHead().position();
        }

        @Override
        public long upTo(Journal journal) {
            return before(journal);
        }

        @Override
        public String toString() {
            return "now";
        }
    }

    /** At the message with this position. */
    record At(long position) implements Point {
        public At {
            if (position < 1) {
                throw new IllegalArgumentException("position is " + position + ", the least is 1");
            }
        }

        @Override
        public long before(Journal journal) {
            return position - 1;
        }

        @Override
        public long upTo(Journal journal) {
            return position;
        }

        @Override
        public String toString() {
            return "position " + position;
        }
    }

    /** Between what was stamped up to a time and what was stamped later. */
    record Since(Instant time) implements Point {
        @Override
        public long before(Journal journal) {
            return journal.positionAt(time);
        }

        @Override
        public long upTo(Journal journal) {
            return before(journal);
        }

        @Override
        public String toString() {
            return time.toString();
        }
    }

    /** The last position before it, for what begins here. */
    long before(Journal journal);

    /** The last position that belongs to what ends here. */
    long upTo(Journal journal);

    static Point beginning() {
        return new Beginning();
    }

    static Point now() {
        return new Now();
    }

    static Point at(long position) {
        return new At(position);
    }

    static Point since(Instant time) {
        return new Since(time);
    }
}
