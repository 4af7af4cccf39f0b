package io.postroom.retry;

import io.postroom.PostroomException;
import io.postroom.retry.Schedule.Curve;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.regex.Pattern;

/** Retry policies as settings name them: a word, and what is to differ from what the word stands for. */
final class PolicyText {
    static final int TEXT_LENGTH_MAX = 500;

    private static final List<String> NAMES = List.of("quick", "linear", "quadratic");
    private static final List<String> FORMS = List.of("quick", "linear", "quadratic", "exponential");
    private static final Pattern DURATION = Pattern.compile("\\d{1,9}(ms|s|m|min|h|d)");
    private static final Pattern WHOLE = Pattern.compile("\\d{1,9}");
    private static final Pattern SHARE = Pattern.compile("\\d{1,3}(\\.\\d{1,9})?");

    private final Curve curve;
    private final RetryPolicy.Builder policy;
    private final List<String> problems = new ArrayList<>();
    private final Set<String> given = new HashSet<>();

    private PolicyText(String form) {
        curve = switch (form) {
            case "linear" -> Curve.LINEAR;
            case "quadratic" -> Curve.QUADRATIC;
            default -> Curve.EXPONENTIAL;
        };
        policy = start(form);
    }

    static RetryPolicy named(String name) {
        if (!NAMES.contains(name)) {
            throw new PostroomException("retry.policy-unknown", "could not find retry policy: " + unknown(name, NAMES));
        }
        return start(name).build(name, "could not make retry policy " + name, List.of());
    }

    static RetryPolicy parse(String text, Map<String, Reaction> reactions) {
        String attempt = "could not read retry policy '" + OneLine.excerpt(text) + "'";
        if (text.length() > TEXT_LENGTH_MAX) {
            throw invalid(attempt + ": it is " + text.length() + " characters, the most is " + TEXT_LENGTH_MAX);
        }
        String[] words = text.strip().split("\\s+");
        if (words[0].isEmpty()) {
            throw invalid(attempt + ": there is nothing in it; write one of " + String.join(", ", FORMS));
        }
        if (!FORMS.contains(words[0])) {
            throw new PostroomException("retry.policy-unknown", attempt + ": " + unknown(words[0], FORMS));
        }
        PolicyText reading = new PolicyText(words[0]);
        reactions.forEach(reading.policy::on);
        for (int i = 1; i < words.length; i++) {
            reading.read(words[0], words[i]);
        }
        boolean isNamed = words.length == 1 && NAMES.contains(words[0]);
        return reading.policy.build(isNamed ? words[0] : null, attempt, reading.problems);
    }

    /** What a word stands for. The waits of linear and quadratic are exact, as those who ask for them by name expect. */
    private static RetryPolicy.Builder start(String form) {
        RetryPolicy.Builder policy = RetryPolicy.builder();
        return switch (form) {
            case "quick" ->
                policy.attemptsMax(5)
                        .immediate(3)
                        .exponential(Duration.ofSeconds(1))
                        .cap(Duration.ofMinutes(5))
                        .jitter(0.25);
            case "linear" ->
                policy.attemptsMax(10)
                        .linear(Duration.ofSeconds(30))
                        .cap(Duration.ofMinutes(4))
                        .jitter(0);
            case "quadratic" ->
                policy.attemptsMax(10)
                        .quadratic(Duration.ofSeconds(5))
                        .cap(Duration.ofHours(1))
                        .jitter(0);
            default ->
                policy.attemptsMax(10)
                        .exponential(Duration.ofSeconds(1))
                        .cap(Duration.ofHours(1))
                        .jitter(0.25);
        };
    }

    private void read(String form, String word) {
        int equals = word.indexOf('=');
        String setting = equals < 0 ? word : word.substring(0, equals);
        String value = equals < 0 ? "" : word.substring(equals + 1);
        List<String> settings = List.of(curve.setting, "attempts", "immediate", "cap", "jitter");
        if (!settings.contains(setting)) {
            problems.add("'" + OneLine.excerpt(setting) + "' is not a setting of " + form + "; the settings are "
                    + String.join(", ", settings) + Spelling.didYouMean(setting, settings));
            return;
        }
        if (equals < 0) {
            problems.add(setting + " has no value; write " + setting + "=" + example(setting));
            return;
        }
        if (!given.add(setting)) {
            problems.add(setting + " is there twice");
            return;
        }
        apply(setting, value);
    }

    private void apply(String setting, String value) {
        switch (setting) {
            case "attempts" -> readNumber(setting, value, policy::attemptsMax);
            case "immediate" -> readNumber(setting, value, policy::immediate);
            case "cap" -> readDuration(setting, value, policy::cap);
            case "jitter" -> {
                if (fits(SHARE, setting, value, "a share from 0 to 1, such as 0.2")) {
                    policy.jitter(Double.parseDouble(value));
                }
            }
            default -> readDuration(setting, value, unit -> policy.grow(curve, unit));
        }
    }

    private void readNumber(String setting, String value, IntConsumer use) {
        if (fits(WHOLE, setting, value, "a whole number")) {
            use.accept(Integer.parseInt(value));
        }
    }

    private void readDuration(String setting, String value, Consumer<Duration> use) {
        if (fits(DURATION, setting, value, "a duration; write a number and a unit: 500ms, 30s, 5m, 2h or 7d")) {
            int digits = value.length();
            while (!Character.isDigit(value.charAt(digits - 1))) {
                digits--;
            }
            use.accept(Duration.of(Long.parseLong(value.substring(0, digits)), unit(value.substring(digits))));
        }
    }

    private static ChronoUnit unit(String suffix) {
        return switch (suffix) {
            case "ms" -> ChronoUnit.MILLIS;
            case "s" -> ChronoUnit.SECONDS;
            case "h" -> ChronoUnit.HOURS;
            case "d" -> ChronoUnit.DAYS;
            default -> ChronoUnit.MINUTES;
        };
    }

    private boolean fits(Pattern form, String setting, String value, String wanted) {
        boolean fits = form.matcher(value).matches();
        if (!fits) {
            problems.add(setting + " is '" + OneLine.excerpt(value) + "', which is not " + wanted);
        }
        return fits;
    }

    private static String example(String setting) {
        return switch (setting) {
            case "attempts" -> "8";
            case "immediate" -> "3";
            case "cap" -> "5m";
            case "jitter" -> "0.2";
            default -> "1s";
        };
    }

    private static String unknown(String name, List<String> names) {
        return "there is none named '" + OneLine.excerpt(name) + "'; the names are " + String.join(", ", names)
                + Spelling.didYouMean(name, names);
    }

    private static PostroomException invalid(String message) {
        return new PostroomException("retry.policy-invalid", message);
    }
}
