package io.postroom.server.advice;

import io.postroom.advice.Advice;
import io.postroom.advice.Figures;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.web.Shown;
import java.util.List;

/** Advice for people: the figures, then a block for each thing, with each step of the reasoning. */
final class AdviceText {
    private static final int LINE_LENGTH_MAX = 1_000;

    private AdviceText() {}

    static String of(Figures figures, List<Advice> advice) {
        StringBuilder text = new StringBuilder();
        line(
                text,
                Shown.rate(figures.messagesPerSecond()) + " messages over " + Durations.show(figures.window()) + ", "
                        + Shown.rate(figures.peakPerSecond()) + " in the busiest minute, "
                        + Shown.size(figures.payloadBytes())
                        + " each; " + Shown.count(figures.consumers(), "consumer") + ", "
                        + Shown.count(figures.relays(), "relay")
                        + "; " + Shown.size(figures.storage().bytes()) + " of "
                        + Shown.count(figures.storage().days(), "day"));
        for (Advice each : advice) {
            text.append('\n');
            line(
                    text,
                    each.urgency().word() + " ".repeat(7 - each.urgency().word().length())
                            + each.topic().id() + "  " + each.topic().title() + ": " + each.verdict());
            each.reasons()
                    .forEach(reason -> line(
                            text,
                            "       " + (reason.passed() ? "! " : "  ") + reason.name() + ": " + reason.figure()
                                    + "; threshold: " + reason.threshold() + " (" + reason.source() + ")"));
            line(text, "         see: " + each.topic().page());
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String line) {
        text.append(Quoted.text(line, LINE_LENGTH_MAX)).append('\n');
    }
}
