package io.postroom.diagnosis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a message is where it is for one subscription.
 *
 * @param subscription null if the answer is the same whoever asks: the message was not found, or nobody subscribes
 * @param reasons at least one; the first is the one to do something about, the others come after it
 */
public record Answer(@Nullable String subscription, Verdict verdict, List<Reason> reasons) {
    public Answer {
        reasons = List.copyOf(reasons);
        if (reasons.isEmpty()) {
            throw new IllegalArgumentException("an answer needs a reason");
        }
    }

    /** The answer in a sentence. */
    public String headline() {
        return reasons.get(0).sentence();
    }
}
