package io.postroom.server.relay;

import io.postroom.PostroomException;
import io.postroom.retry.Reaction;
import io.postroom.retry.RetryPolicy;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the block of a subscription or of a kind of job says about what fails: {@code retry} and {@code on-error}. */
final class RetryWords {
    private static final List<String> WORDS =
            List.of("reject", "unavailable", "retry", "quick", "linear", "quadratic", "exponential");
    private static final int WORD_LENGTH_MAX = 60;

    private RetryWords() {}

    /** The policy of a block; the given one where it says nothing, or where there is a problem with it. */
    static RetryPolicy read(Section subscription, String standard) {
        String[] text = {standard};
        subscription.read("retry", given -> {
            RetryPolicy.parse(given);
            text[0] = given;
        });
        Map<String, Reaction> reactions = new LinkedHashMap<>();
        subscription.each("on-error", (errorClass, word) -> reactions.put(errorClass, reaction(word)));
        try {
            return RetryPolicy.parse(text[0], reactions);
        } catch (PostroomException e) {
            // The text alone was good.
            subscription.problem(
                    subscription.lineOf("on-error"), subscription.name("on-error") + ": " + e.getMessage());
            return RetryPolicy.STANDARD;
        }
    }

    private static Reaction reaction(String word) {
        return switch (word.strip()) {
            case "reject" -> Reaction.reject();
            case "unavailable" -> Reaction.unavailable();
            case "retry" -> Reaction.retry();
            default -> Reaction.retry(policy(word));
        };
    }

    private static RetryPolicy policy(String word) {
        try {
            return RetryPolicy.parse(word);
        } catch (PostroomException e) {
            if (e.code().equals("retry.policy-unknown")) {
                throw new IllegalArgumentException(
                        "'" + Quoted.text(word, WORD_LENGTH_MAX)
                                + "' is none of reject, unavailable, retry and a policy such as linear"
                                + Suggestion.didYouMean(word, WORDS),
                        e);
            }
            throw e;
        }
    }
}
