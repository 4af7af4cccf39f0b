package io.postroom.fault;

import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What a {@link FaultMain} is to be, as text that fits a command line. Immutable. */
final class FaultSettings {
    private final Map<String, String> values;

    private FaultSettings(Map<String, String> values) {
        this.values = values;
    }

    /** Threads that send: the lanes' own, or others, with many messages on their way. One of the two where the build says which. */
    static IntStream threadsToTry() {
        Integer only = Integer.getInteger("postroom.fault.threads");
        return only == null || Boolean.getBoolean("postroom.long") ? IntStream.of(0, 16) : IntStream.of(only);
    }

    static FaultSettings on(TestDatabase database, Path directory) {
        return new FaultSettings(Map.of(
                        "url",
                        database.url(),
                        "directory",
                        directory.toString(),
                        "retry",
                        "linear step=10ms cap=10ms jitter=0"))
                .with("name", "relay")
                .with("subscriptions", FaultMain.GOES_ON + " " + FaultMain.HOLDS)
                .with("lanes", 4)
                .with("lease", Duration.ofSeconds(4))
                .with("settle", Duration.ofMillis(100))
                .with("deadline", Duration.ofMinutes(1))
                .with("work", Duration.ZERO)
                .with("threads", 0)
                .with("step", "");
    }

    static FaultSettings parse(String text) {
        Map<String, String> values = new TreeMap<>();
        text.lines()
                .forEach(line ->
                        values.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
        return new FaultSettings(values);
    }

    FaultSettings with(String name, Object value) {
        Map<String, String> more = new TreeMap<>(values);
        more.put(name, value.toString());
        return new FaultSettings(more);
    }

    String text() {
        return values.entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .collect(Collectors.joining("\n"));
    }

    String url() {
        return value("url");
    }

    String name() {
        return value("name");
    }

    Path directory() {
        return Path.of(value("directory"));
    }

    /** Which of its two subscriptions it serves. */
    List<String> subscriptions() {
        return List.of(value("subscriptions").split(" "));
    }

    int lanes() {
        return Integer.parseInt(value("lanes"));
    }

    Duration lease() {
        return Duration.parse(value("lease"));
    }

    Duration settleInterval() {
        return Duration.parse(value("settle"));
    }

    RetryPolicy retry() {
        return RetryPolicy.parse(value("retry"));
    }

    Duration deadline() {
        return Duration.parse(value("deadline"));
    }

    /** How long the handling of one message takes. */
    Duration work() {
        return Duration.parse(value("work"));
    }

    /** How many messages are handled at once beside the lanes' own threads; none: each lane handles its own. */
    int threads() {
        return Integer.parseInt(value("threads"));
    }

    /** Where it dies or freezes; see {@link FaultMain.Step}. */
    String step() {
        return value("step");
    }

    private String value(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("there is no setting " + name);
        }
        return value;
    }
}
