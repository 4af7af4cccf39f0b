package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.postroom.relay.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class VerdictTest {
    private static final Path README = Path.of("README.md");
    private static final Pattern NAME = Pattern.compile("`([A-Za-z]+Exception)`");
    private static final Pattern TROUBLE_CLASS = Pattern.compile("`kafka\\.[a-z-]+`");
    private static final List<String> PACKAGES = List.of(
            "org.apache.kafka.common.errors.",
            "org.apache.kafka.common.",
            "org.apache.kafka.clients.producer.",
            "java.lang.");

    /** What the README's words mean, for a sink with one topic and for one with a template. */
    private static final Map<String, List<Class<? extends Outcome>>> OUTCOMES = Map.of(
            "rejected", List.of(Outcome.Rejected.class, Outcome.Rejected.class),
            "retry", List.of(Outcome.Retry.class, Outcome.Retry.class),
            "unavailable", List.of(Outcome.Unavailable.class, Outcome.Unavailable.class),
            "unavailable if all messages go to one topic, else retry",
                    List.of(Outcome.Unavailable.class, Outcome.Retry.class));

    /** The rows of the README's table: an error, the outcome, what becomes of the producer and the error class. */
    static Stream<Arguments> readme() throws IOException {
        return Files.readAllLines(README).stream()
                .filter(line -> line.startsWith("| `") && line.contains("Exception`"))
                .map(line -> line.split("\\s*\\|\\s*"))
                .flatMap(cells -> NAME.matcher(cells[1])
                        .results()
                        .map(name -> arguments(name.group(1), cells[2], cells[3], cells[4])));
    }

    @ParameterizedTest
    @MethodSource("readme")
    void judgesErrorsAsTheReadmeSays(String name, String outcome, String producer, String errorClass) throws Exception {
        RuntimeException error = error(name);
        assertThat(OUTCOMES).containsKey(outcome);
        assertThat(producer).isIn("kept", "replaced");
        Verdict single = verdict(error, "orders");
        Verdict many = verdict(error, "events.{aggregateType}");
        assertThat(List.of(single.outcome().getClass(), many.outcome().getClass()))
                .isEqualTo(OUTCOMES.get(outcome));
        assertThat(List.of(errorClass(single.outcome()), errorClass(many.outcome())))
                .allMatch(errorClass.replace("<name>", name).replace("`", "")::equals);
        assertThat(single.producerSpent()).isEqualTo(producer.equals("replaced"));
        assertThat(many.producerSpent()).isEqualTo(producer.equals("replaced"));
        // An InterruptException interrupts the thread that makes it.
        assertThat(Thread.interrupted()).isEqualTo(name.equals("InterruptException"));
    }

    @Test
    void readsTheWholeTable() throws IOException {
        assertThat(readme()).hasSizeGreaterThanOrEqualTo(30);
    }

    @Test
    void tellsAMissingTopicFromADeadBrokerWhenItWaitedInVain() {
        TimeoutException missing = new TimeoutException("late", new UnknownTopicOrPartitionException("missing"));
        assertThat(verdict(missing, "events.{aggregateType}").outcome()).isInstanceOf(Outcome.Retry.class);
        assertThat(errorClass(verdict(missing, "orders").outcome()))
                .isEqualTo("kafka.UnknownTopicOrPartitionException");
        TimeoutException leaderless = new TimeoutException("late", new LeaderNotAvailableException("election"));
        assertThat(verdict(leaderless, "events.{aggregateType}").outcome()).isInstanceOf(Outcome.Unavailable.class);
    }

    @Test
    void givesTheReasonInOneLineOfBoundedLength() {
        String fact =
                Verdict.fact(new TimeoutException("a\nb\u0000c" + "x".repeat(1000), new NetworkException("root")));
        assertThat(fact).startsWith("TimeoutException: a b c").hasSizeLessThan(510);
        assertThat(Verdict.fact(new TimeoutException("late", new NetworkException("cut"))))
                .isEqualTo("TimeoutException: late (NetworkException: cut)");
        assertThat(Verdict.fact(new TimeoutException("login failed: password=\"hunter2\"")))
                .isEqualTo("TimeoutException: login failed: password=***");
    }

    /** The rows without an exception: what happens, the outcome and the error class. */
    static Stream<Arguments> troubleRows() throws IOException {
        return Files.readAllLines(README).stream()
                .map(line -> line.split("\\s*\\|\\s*"))
                .filter(cells ->
                        cells.length > 4 && TROUBLE_CLASS.matcher(cells[4]).matches())
                .map(cells -> arguments(cells[1], cells[2], cells[4].replace("`", "")));
    }

    @ParameterizedTest
    @MethodSource("troubleRows")
    void judgesWhatIsNoErrorOfKafkaAsTheReadmeSays(String trouble, String outcome, String errorClass) throws Exception {
        Outcome made = Trouble.TABLE.get(errorClass).make();
        assertThat(made).as(trouble).isInstanceOf(OUTCOMES.get(outcome).get(0));
        assertThat(errorClass(made)).isEqualTo(errorClass);
    }

    @Test
    void theTableNamesEveryTrouble() throws IOException {
        assertThat(troubleRows().map(row -> row.get()[2])).containsExactlyInAnyOrderElementsOf(Trouble.TABLE.keySet());
    }

    private static String errorClass(Outcome outcome) {
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return unavailable.fault().errorClass();
        }
        return outcome instanceof Outcome.Retry retry
                ? retry.fault().errorClass()
                : ((Outcome.Rejected) outcome).fault().errorClass();
    }

    private static RuntimeException error(String name) throws Exception {
        for (String from : PACKAGES) {
            try {
                Class<?> type = Class.forName(from + name);
                return (RuntimeException) type.getConstructor(String.class).newInstance("x");
            } catch (ClassNotFoundException e) {
                // Then it is in another package.
            }
        }
        throw new IllegalArgumentException(name + " of the README is no error that Kafka has");
    }

    private static Verdict verdict(Exception error, String template) {
        return Verdict.of(error, "orders", TopicTemplate.parse(template, new ArrayList<>()));
    }
}
