package io.postroom.diagnosis;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Why a message is where it is: an answer for each subscription, the most important first.
 *
 * @param message null if it was not found
 */
public record Why(UUID messageId, @Nullable Found message, List<Answer> answers) {
    public Why {
        answers = List.copyOf(answers);
    }

    /** The worst of the answers. */
    public Verdict verdict() {
        return answers.stream().map(Answer::verdict).min(Verdict::compareTo).orElse(Verdict.DONE);
    }
}
