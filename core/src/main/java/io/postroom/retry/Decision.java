package io.postroom.retry;

import java.time.Duration;
import java.util.Objects;

/** What a {@link RetryPolicy} says about an attempt that failed. */
public sealed interface Decision {

    /** Not yet: try again after this time, which may be zero. */
    record TryAgain(Duration after) implements Decision {
        public TryAgain {
            if (after.isNegative()) {
                throw new IllegalArgumentException("after is " + after + ", the least is 0");
            }
        }
    }

    /**
     * Never: bury it, because it is out of attempts, or because it is rejected and another attempt cannot help. The reason is for
     * operators and holds nothing of the message.
     */
    record GiveUp(String why, boolean rejected) implements Decision {
        public GiveUp {
            Objects.requireNonNull(why, "why");
        }

        /** Out of attempts. */
        public GiveUp(String why) {
            this(why, false);
        }
    }

    /** The destination is at fault, not what was sent: open its circuit, and count no attempt. */
    record Unavailable() implements Decision {}
}
