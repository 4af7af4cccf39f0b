package io.postroom.server.dev;

import io.postroom.relay.Lag;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.Terminal;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Shows every so often what flows where: a table that stays in place on a terminal, a line each time elsewhere. */
final class FlowBoard {
    /** With its seconds at the full minute, too. */
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    private static final String UP = "\u001b[%dA";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String ROW = "%-14s %14s %14s %14s %14s";
    private static final String BOLD = "\u001b[1m";
    private static final String PLAIN = "\u001b[0m";

    private final Terminal terminal;
    private final Flow flow;
    private final Traffic traffic;
    private final Map<String, Long> before = new HashMap<>();
    private long shownNanos = System.nanoTime();
    private int linesShown;

    FlowBoard(Terminal terminal, Flow flow, Traffic traffic) {
        this.terminal = terminal;
        this.flow = flow;
        this.traffic = traffic;
    }

    /** Shows the rates since it was last called. */
    void show(long position, List<Lag> lags) {
        double seconds = Math.max(0.001, (System.nanoTime() - shownNanos) / 1e9);
        shownNanos = System.nanoTime();
        Map<String, Lag> byName = new TreeMap<>();
        lags.forEach(lag -> byName.put(lag.subscription(), lag));
        String published = rate("published", traffic.committed(), seconds);
        String rolledBack = rate("rolled back", traffic.rolledBack(), seconds);
        String stamped = rate("stamped", flow.stamped(), seconds);
        if (terminal.movesCursor()) {
            table(position, byName, seconds, published, rolledBack, stamped);
        } else {
            line(position, byName, seconds, published, rolledBack, stamped);
        }
    }

    private void table(
            long position, Map<String, Lag> lags, double seconds, String published, String rolledBack, String stamped) {
        StringBuilder text = new StringBuilder();
        if (linesShown > 0) {
            text.append(String.format(Locale.ROOT, UP, linesShown));
        }
        heading(text, "", "PUBLISHED", "ROLLED BACK", "STAMPED", "POSITION");
        row(text, "outbox", published, rolledBack, stamped, position);
        heading(text, "SUBSCRIPTION", "DELIVERED", "TOTAL", "BEHIND", "RETRIES");
        lags.forEach((name, lag) -> row(
                text,
                name,
                rate(name, flow.delivered(name), seconds),
                flow.delivered(name),
                behind(lag),
                flow.failed(name)));
        linesShown = 3 + lags.size();
        terminal.print(text.toString());
    }

    private void heading(StringBuilder text, Object... cells) {
        boolean bold = terminal.hasColours();
        text.append(bold ? BOLD : "");
        row(text, cells);
        text.append(bold ? PLAIN : "");
    }

    private static void row(StringBuilder text, Object... cells) {
        text.append(String.format(Locale.ROOT, ROW, cells)).append(CLEAR_LINE).append('\n');
    }

    private void line(
            long position, Map<String, Lag> lags, double seconds, String published, String rolledBack, String stamped) {
        StringBuilder text = new StringBuilder();
        text.append(TIME.format(LocalTime.now()));
        text.append("  published ").append(published);
        text.append("  rolled back ").append(rolledBack);
        text.append("  stamped ").append(stamped);
        text.append("  position ").append(position);
        lags.forEach((name, lag) -> text.append("  ")
                .append(name)
                .append(' ')
                .append(rate(name, flow.delivered(name), seconds))
                .append(" behind ")
                .append(behind(lag)));
        terminal.print(text.append('\n').toString());
    }

    private String rate(String name, long now, double seconds) {
        Long last = before.put(name, now);
        return Math.round((now - (last == null ? 0 : last)) / seconds) + "/s";
    }

    private static String behind(Lag lag) {
        return lag.messages() == 0 ? "0" : lag.messages() + " (" + Durations.show(lag.age()) + ")";
    }
}
