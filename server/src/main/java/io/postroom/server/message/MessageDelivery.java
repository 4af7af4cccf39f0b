package io.postroom.server.message;

import io.postroom.diagnosis.Answer;
import io.postroom.diagnosis.Code;
import io.postroom.diagnosis.Reason;
import io.postroom.diagnosis.Verdict;
import io.postroom.diagnosis.Why;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a message has come to one subscription that wants it.
 *
 * @param state a word: delivered, parked, dead letter
 * @param isBy whether {@code at} is only known to be no earlier than the delivery
 * @param style how it is shown: good, bad or note
 */
public record MessageDelivery(
        String subscription,
        String state,
        @Nullable Instant at,
        boolean isBy,
        @Nullable String node,
        String style) {
    private static final List<String> TIMES =
            List.of("deliveredAt", "deliveredBefore", "resolvedAt", "buriedAt", "lastFailedAt");

    /** Of every subscription that wants it. */
    static List<MessageDelivery> of(Why why) {
        return why.answers().stream()
                .filter(answer -> answer.subscription() != null && !isUnwanted(answer))
                .map(MessageDelivery::of)
                .toList();
    }

    private static MessageDelivery of(Answer answer) {
        Reason reason = answer.reasons().get(0);
        String time = TIMES.stream()
                .filter(name -> reason.evidence().get(name) instanceof Instant)
                .findFirst()
                .orElse("");
        Object node = reason.evidence().get("deliveredBy");
        return new MessageDelivery(
                String.valueOf(answer.subscription()),
                reason.code().word().replaceFirst("^why\\.", "").replace('-', ' '),
                (Instant) reason.evidence().get(time),
                time.equals("deliveredBefore"),
                node == null ? null : node.toString(),
                answer.verdict() == Verdict.STUCK ? "bad" : answer.verdict() == Verdict.DONE ? "good" : "note");
    }

    /** Whether a subscription never wanted the message. */
    public static boolean isUnwanted(Answer answer) {
        return answer.reasons().stream()
                .allMatch(reason -> reason.code() == Code.FILTERED_OUT || reason.code() == Code.BEFORE_BEGIN);
    }
}
