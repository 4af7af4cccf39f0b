package io.postroom.server;

import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import java.math.BigInteger;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The values that options and parameters take, for all commands: each is read, or refused with what is wrong with it. {@link UsageError}
 * adds whose value it was and what that means.
 */
final class Values {
    private static final int LENGTH_MAX = 40;
    private static final Pattern WHOLE = Pattern.compile("[+-]?[0-9]+");

    private Values() {}

    static void register(CommandLine root) {
        root.registerConverter(String.class, Values::text)
                .registerConverter(Path.class, Values::path)
                .registerConverter(int.class, Values::integer)
                .registerConverter(Integer.class, Values::integer)
                .registerConverter(long.class, Values::number)
                .registerConverter(Long.class, Values::number)
                .registerConverter(boolean.class, Values::flag)
                .registerConverter(Boolean.class, Values::flag)
                .registerConverter(Duration.class, Values::duration)
                .registerConverter(OutputFormat.class, word(OutputFormat.class))
                .registerConverter(CompletionCommand.Shell.class, word(CompletionCommand.Shell.class));
    }

    /** An empty value is what a shell makes of a variable that is not set: nobody means it. */
    private static String text(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("is empty");
        }
        return text;
    }

    private static Path path(String text) {
        try {
            return Path.of(text(text));
        } catch (InvalidPathException e) {
            throw new TypeConversionException("'" + Quoted.text(text, LENGTH_MAX) + "' is not a path");
        }
    }

    /** Commands know the ranges of theirs. */
    private static int integer(String text) {
        return whole(text, Integer.MIN_VALUE, Integer.MAX_VALUE).intValueExact();
    }

    /** Of positions and of what has a number, which none is below 0. */
    private static long number(String text) {
        return whole(text, 0, Long.MAX_VALUE).longValueExact();
    }

    private static BigInteger whole(String text, long least, long most) {
        String stripped = text.strip();
        if (!WHOLE.matcher(stripped).matches()) {
            throw new TypeConversionException("'" + Quoted.text(text, LENGTH_MAX) + "' is not a whole number");
        }
        if (stripped.length() > LENGTH_MAX) {
            throw new TypeConversionException("has " + stripped.length() + " digits, more than a number here may have");
        }
        BigInteger value = new BigInteger(stripped);
        if (value.compareTo(BigInteger.valueOf(least)) < 0) {
            throw new TypeConversionException("is " + value + ", less than " + least);
        }
        if (value.compareTo(BigInteger.valueOf(most)) > 0) {
            throw new TypeConversionException("is " + value + ", more than " + most);
        }
        return value;
    }

    private static boolean flag(String text) {
        if (!text.equals("true") && !text.equals("false")) {
            throw new TypeConversionException("'" + Quoted.text(text, LENGTH_MAX) + "' is neither true nor false");
        }
        return text.equals("true");
    }

    private static Duration duration(String text) {
        try {
            return Durations.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /** Reads a word of an enum as it is written on the command line. */
    private static <E extends Enum<E>> ITypeConverter<E> word(Class<E> type) {
        List<E> words = List.of(type.getEnumConstants());
        List<String> known =
                Arrays.stream(type.getEnumConstants()).map(E::toString).toList();
        return text -> words.stream()
                .filter(word -> word.toString().equals(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + Quoted.text(text, LENGTH_MAX) + "' is none of "
                        + words + Suggestion.didYouMean(text, known)));
    }
}
