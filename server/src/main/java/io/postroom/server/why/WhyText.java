package io.postroom.server.why;

import io.postroom.diagnosis.Answer;
import io.postroom.diagnosis.Found;
import io.postroom.diagnosis.Reason;
import io.postroom.diagnosis.Why;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.Quoted;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/** The answer for people: a block for each subscription. Nothing in it is obeyed by a terminal. */
final class WhyText {
    private static final int LINE_LENGTH_MAX = 1_000;

    private WhyText() {}

    static String of(Why why) {
        StringBuilder text = new StringBuilder();
        line(text, "message " + why.messageId() + message(why));
        for (Answer answer : why.answers()) {
            text.append('\n');
            String subscription = answer.subscription() == null ? "" : answer.subscription() + ": ";
            line(text, subscription + answer.verdict().word().replace('-', ' ') + ": " + answer.headline());
            List<Reason> reasons = answer.reasons();
            for (int i = 0; i < reasons.size(); i++) {
                if (i > 0) {
                    line(text, "  also: " + reasons.get(i).sentence());
                }
                reason(text, reasons.get(i));
            }
        }
        return text.toString();
    }

    private static String message(Why why) {
        Found message = why.message();
        if (message == null) {
            return "";
        }
        Found.Key key = message.key();
        return ", " + message.eventType() + " version " + message.eventVersion() + " of " + key.aggregateType() + " "
                + key.aggregateId() + (key.tenantId() == null ? "" : " of tenant " + key.tenantId())
                + (message.position() == null ? ", without a position" : ", position " + message.position())
                + (message.stampedAt() == null ? "" : ", stamped " + shown(message.stampedAt()))
                + (message.copies() == 1 ? "" : ", the newest of " + message.copies() + " messages with this id");
    }

    private static void reason(StringBuilder text, Reason reason) {
        int width = reason.evidence().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(0);
        width = Math.max(width, "reason".length());
        fact(text, "reason", reason.code().word(), width);
        for (Map.Entry<String, Object> fact : reason.evidence().entrySet()) {
            fact(text, fact.getKey(), shown(fact.getValue()), width);
        }
        reason.next().forEach(command -> line(text, "    next: " + command));
    }

    private static void fact(StringBuilder text, String name, String value, int width) {
        line(text, "    " + name + " ".repeat(width - name.length()) + "  " + value);
    }

    private static void line(StringBuilder text, String line) {
        text.append(Quoted.text(line, LINE_LENGTH_MAX)).append('\n');
    }

    private static String shown(Object value) {
        if (value instanceof Instant time) {
            return time.truncatedTo(ChronoUnit.MILLIS).toString();
        }
        return value instanceof Duration duration ? Durations.show(duration) : value.toString();
    }
}
