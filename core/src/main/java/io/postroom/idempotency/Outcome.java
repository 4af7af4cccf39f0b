package io.postroom.idempotency;

import java.time.Duration;
import java.util.Optional;

/** What became of a request. */
public sealed interface Outcome {
    /** The answer, if there is one: of this request, or of an earlier one with the same key. */
    default Optional<Answer> answer() {
        return Optional.empty();
    }

    /** One of a few words, for metrics: executed, failed, replayed, in_progress, mismatch. */
    String word();

    /**
     * Done now.
     *
     * @param stored whether it is answered the same when it is asked again; else nothing was changed, and it is tried again
     */
    record Executed(Answer given, boolean stored) implements Outcome {
        @Override
        public Optional<Answer> answer() {
            return Optional.of(given);
        }

        @Override
        public String word() {
            return stored ? "executed" : "failed";
        }
    }

    /** Done before; the answer is the one that was given then, byte for byte. */
    record Replayed(Answer given) implements Outcome {
        @Override
        public Optional<Answer> answer() {
            return Optional.of(given);
        }

        @Override
        public String word() {
            return "replayed";
        }
    }

    /** Another request with this key is at it. Nothing was done. */
    record Running(Duration retryAfter) implements Outcome {
        @Override
        public String word() {
            return "in_progress";
        }
    }

    /** The key was used for another request. Nothing was done. */
    record Mismatch() implements Outcome {
        @Override
        public String word() {
            return "mismatch";
        }
    }
}
