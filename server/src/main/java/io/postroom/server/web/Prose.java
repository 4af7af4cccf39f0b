package io.postroom.server.web;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Sentences of other parts as a page shows them: times as times, which follow the reader's zone, and long numbers in groups. */
public final class Prose {
    private static final Pattern NOTABLE = Pattern.compile(
            "\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z|(?<![\\w.:/-])\\d{5,18}(?![\\w:-]|\\.\\d)");

    private Prose() {}

    /** A part of a sentence: a text, or a time. */
    public record Piece(String text, @Nullable Instant at) {}

    public static List<Piece> pieces(@Nullable String text) {
        List<Piece> pieces = new ArrayList<>();
        String whole = text == null ? "" : text;
        Matcher notable = NOTABLE.matcher(whole);
        int end = 0;
        while (notable.find()) {
            pieces.add(new Piece(whole.substring(end, notable.start()), null));
            pieces.add(piece(notable.group()));
            end = notable.end();
        }
        pieces.add(new Piece(whole.substring(end), null));
        return pieces.stream()
                .filter(piece -> piece.at() != null || !piece.text().isEmpty())
                .toList();
    }

    private static Piece piece(String found) {
        if (found.indexOf('T') < 0) {
            return new Piece(Shown.number(Long.parseLong(found)), null);
        }
        try {
            return new Piece(found, Instant.parse(found));
        } catch (DateTimeException e) {
            return new Piece(found, null);
        }
    }
}
