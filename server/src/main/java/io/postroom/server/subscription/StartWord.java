package io.postroom.server.subscription;

import io.postroom.relay.Start;
import io.postroom.server.terminal.Times;
import java.time.Instant;

/** Where a subscription begins, as people write it: beginning, now, a position, or a time. */
public final class StartWord {
    private StartWord() {}

    /** Reads it; throws an {@link IllegalArgumentException} that shows the accepted forms. A position is the first to come. */
    public static Start parse(String text) {
        String word = text.strip();
        if (word.equals("beginning")) {
            return Start.beginning();
        }
        if (word.equals("now")) {
            return Start.now();
        }
        if (word.matches("\\d{1,18}")) {
            return Start.after(Math.max(0, Long.parseLong(word) - 1));
        }
        try {
            return Start.since(Times.parse(word, Instant.now()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(e.getMessage() + "; or beginning, now or a position", e);
        }
    }
}
