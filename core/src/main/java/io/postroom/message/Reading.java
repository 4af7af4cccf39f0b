package io.postroom.message;

import java.util.Objects;

/** What became of reading a message through {@link Upcasters}. */
public sealed interface Reading {

    /** A message in the newest version of its event type; the very message that was given, if nothing was to do. */
    record Read(Message message) implements Reading {
        public Read {
            Objects.requireNonNull(message, "message");
        }
    }

    /**
     * A message that cannot be read by this process as it is. Trying again here cannot help, so it is not tried again: it is put
     * aside with the reason until another release reads it. The reason is for operators and quotes nothing of the payload, save
     * what an upcaster's own exception says.
     */
    sealed interface Unreadable extends Reading {
        /** A name to group by: an exception's class, or a word that stays the same over releases. */
        String errorClass();

        String reason();
    }

    /** A newer release has written it. */
    record TooNew(int version, int newest) implements Unreadable {
        @Override
        public String errorClass() {
            return "upcast.too-new";
        }

        @Override
        public String reason() {
            return "event version is " + version + ", the newest known here is " + newest
                    + "; it can be read once this process has the release that wrote it";
        }
    }

    /** A step of the chain failed, or there is none; {@code version} is the version the step begins with. */
    record Broken(int version, String errorClass, String problem) implements Unreadable {
        static final String NO_STEP = "upcast.no-step";
        static final String RETURNED_NULL = "upcast.returned-null";

        public Broken {
            Objects.requireNonNull(errorClass, "errorClass");
            Objects.requireNonNull(problem, "problem");
        }

        @Override
        public String reason() {
            return "could not upcast from version " + version + ": " + problem;
        }
    }
}
