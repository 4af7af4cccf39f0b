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

    /** Never: bury it. The reason is for operators and holds nothing of the message. */
    record GiveUp(String why) implements Decision {
        public GiveUp {
            Objects.requireNonNull(why, "why");
        }
    }

    /** The destination is at fault, not what was sent: open its circuit, and count no attempt. */
    record Unavailable() implements Decision {}
}
