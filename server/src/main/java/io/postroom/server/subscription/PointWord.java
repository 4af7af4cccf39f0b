package io.postroom.server.subscription;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Times;
import io.postroom.subscription.Point;
import java.time.Instant;

/** A place in the journal, as people write it: beginning, now, a position, or a time. */
public final class PointWord {
    private PointWord() {}

    public static Point parse(String option, String text) {
        String word = text.strip();
        try {
            if (word.equals("beginning")) {
                return Point.beginning();
            }
            if (word.equals("now")) {
                return Point.now();
            }
            if (word.matches("\\d{1,18}")) {
                return Point.at(Long.parseLong(word));
            }
            return Point.since(Times.parse(word, Instant.now()));
        } catch (IllegalArgumentException e) {
            String forms = word.matches("\\d{1,18}") ? "" : "; or beginning, now or a position";
            throw new CommandException(ExitCode.USAGE, "could not read " + option + ": " + e.getMessage() + forms, e);
        }
    }
}
