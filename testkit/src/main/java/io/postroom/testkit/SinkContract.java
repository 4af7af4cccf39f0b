package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.OwnHeaders;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What every sink promises, as tests. A sink's own test extends this class and supplies a real destination.
 *
 * <p>The destination may be shared by all tests of a class and may hold what earlier tests sent: each test looks only at the
 * messages it made. The fixture opens the sink before each test and closes it after.
 */
public abstract class SinkContract {
    private static final int KEYS_AT_ONCE = 16;
    private static final int MESSAGES_IN_ORDER = 30;
    private static final String CONFIDENTIAL = "confidential-4711";

    /**
     * What really arrived at the destination, read back from there; the key is null where the destination knows none. Header names
     * are in lower case where the destination does not tell the cases apart.
     */
    public record Received(UUID messageId, @Nullable String key, byte[] payload, Map<String, String> headers) {

        /** The payload as text. */
        public String text() {
            return new String(payload, StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return "received message " + messageId + " (" + payload.length + " bytes)";
        }
    }

    /** The sink under test, open; the same one each time it is asked for within a test. */
    protected abstract Sink sink();

    /** Everything that the destination holds by now, at least per key in order of arrival; a duplicate appears twice. */
    protected abstract List<Received> received() throws Exception;

    /** Makes the destination unreachable, or reachable but dead; returns when it is so. */
    protected abstract void breakDestination() throws Exception;

    /** Undoes {@link #breakDestination}; returns when the destination could take messages again. */
    protected abstract void mendDestination() throws Exception;

    /** Texts that must not appear in any reason or in {@code toString}: passwords, signing secrets. */
    protected Set<String> secrets() {
        return Set.of();
    }

    /** A published payload as this destination holds it. Only one that cannot hold every byte changes this, and says why. */
    protected String asHeld(String payload) {
        return payload;
    }

    /** How long an answer may take before it counts as none. */
    protected Duration patience() {
        return Duration.ofSeconds(30);
    }

    @Test
    final void acceptsOnlyWhatTheDestinationReallyHas() throws Exception {
        for (Message message : Messages.ofManyKeys(fresh(), 10)) {
            assertAccepted(send(message));
            assertThat(received(message.id())).as("at the moment of the answer").isNotEmpty();
        }
    }

    @Test
    final void deliversThePayloadByteForByte() throws Exception {
        for (Map.Entry<String, String> awkward : Messages.awkwardPayloads().entrySet()) {
            Message message = Messages.order(fresh(), awkward.getValue());
            assertAccepted(send(message));
            List<Received> arrived = received(message.id());
            assertThat(arrived).as(awkward.getKey()).isNotEmpty();
            // Compared as a flag: a failure must not print a megabyte.
            String expected = asHeld(awkward.getValue());
            assertThat(arrived.stream().allMatch(one -> one.text().equals(expected)))
                    .as("the payload with %s arrives as it was published", awkward.getKey())
                    .isTrue();
        }
    }

    @Test
    final void keepsTheMessageIdOverRetries() throws Exception {
        String key = fresh();
        Message message = Messages.order(key, "{\"found by\":\"" + key + "\"}");
        breakDestination();
        assertNotAccepted(send(message));
        mendDestination();
        Envelope accepted = sendUntilAccepted(message);
        CompletionStage<Outcome> again = sink().send(accepted.again());
        sink().flush();
        assertAccepted(answer(again));

        assertThat(received().stream().filter(one -> one.text().equals(message.payload())))
                .isNotEmpty()
                .allMatch(one -> one.messageId().equals(message.id()));
    }

    @Test
    final void tellsAReplayedMessageFromANewOne() throws Exception {
        Message fresh = Messages.order(fresh());
        Message replayed = Messages.order(fresh()).withHeader(OwnHeaders.REPLAY, "4711");
        assertAccepted(send(fresh));
        assertAccepted(send(replayed));
        assertThat(received(fresh.id()))
                .isNotEmpty()
                .noneMatch(one -> one.headers().containsKey(OwnHeaders.REPLAY));
        assertThat(received(replayed.id()))
                .isNotEmpty()
                .allMatch(one -> "4711".equals(one.headers().get(OwnHeaders.REPLAY)));
    }

    @Test
    final void keepsOrderPerKeyWhenSentOneAfterAnother() throws Exception {
        List<Message> messages = Messages.sequence(fresh(), MESSAGES_IN_ORDER);
        for (Message message : messages) {
            assertAccepted(send(message));
        }
        assertThat(firstArrivals(messages))
                .containsExactlyElementsOf(messages.stream().map(Message::id).toList());
    }

    @Test
    final void keepsOrderPerKeyOverAnOutage() throws Exception {
        List<Message> messages = Messages.sequence(fresh(), 6);
        for (int n = 0; n < messages.size(); n++) {
            if (n == 2) {
                breakDestination();
                assertNotAccepted(send(messages.get(n)));
                mendDestination();
            }
            sendUntilAccepted(messages.get(n));
        }
        assertThat(firstArrivals(messages))
                .containsExactlyElementsOf(messages.stream().map(Message::id).toList());
    }

    @Test
    final void takesDifferentKeysWithoutWaitingForAnswers() throws Exception {
        List<Message> messages = Messages.ofManyKeys(fresh(), KEYS_AT_ONCE);
        List<CompletionStage<Outcome>> answers = new ArrayList<>();
        for (Message message : messages) {
            answers.add(sink().send(Messages.firstAttempt(message)));
        }
        sink().flush();
        for (CompletionStage<Outcome> answer : answers) {
            assertAccepted(answer(answer));
        }
        assertThat(firstArrivals(messages))
                .containsExactlyInAnyOrderElementsOf(
                        messages.stream().map(Message::id).toList());
    }

    @Test
    final void answersNotNowWhenTheDestinationIsDownAndAcceptsWhenItIsBack() throws Exception {
        assertAccepted(send(Messages.order(fresh())));
        breakDestination();
        List<Message> messages = Messages.ofManyKeys(fresh(), KEYS_AT_ONCE);
        List<CompletionStage<Outcome>> answers = new ArrayList<>();
        for (Message message : messages) {
            answers.add(sink().send(Messages.firstAttempt(message)));
        }
        sink().flush();
        for (CompletionStage<Outcome> answer : answers) {
            assertNotAccepted(answer(answer));
        }
        mendDestination();
        for (Message message : messages) {
            sendUntilAccepted(message);
            assertThat(received(message.id())).isNotEmpty();
        }
    }

    @Test
    final void closesTwiceAndAcceptsNothingAfter() throws Exception {
        Message before = Messages.order(fresh());
        assertAccepted(send(before));
        sink().close();
        sink().close();
        Message after = Messages.order(fresh());
        assertNotAccepted(send(after));
        assertThat(received(before.id())).isNotEmpty();
        assertThat(received(after.id())).isEmpty();
    }

    @Test
    final void namesNeitherPayloadNorSecretInAnyReason() throws Exception {
        Message message = Message.about("order", fresh())
                .event("OrderConfirmed")
                .payload("{\"card\":\"" + CONFIDENTIAL + "\"}")
                .header("authorization", CONFIDENTIAL)
                .build();
        breakDestination();
        String reason = reason(send(message));
        mendDestination();
        assertThat(reason).isNotBlank().doesNotContain(CONFIDENTIAL).doesNotContain("\n");
        for (String secret : secrets()) {
            assertThat(reason).doesNotContain(secret);
            assertThat(sink().toString()).doesNotContain(secret);
        }
    }

    private Outcome send(Message message) throws Exception {
        CompletionStage<Outcome> answer = sink().send(Messages.firstAttempt(message));
        sink().flush();
        return answer(answer);
    }

    /** Tries again as a relay does, waiting as long as the sink asks; returns the envelope that was accepted. */
    private Envelope sendUntilAccepted(Message message) throws Exception {
        long deadline = System.nanoTime() + patience().toNanos();
        Envelope envelope = Messages.firstAttempt(message);
        Outcome outcome = send(message);
        while (!(outcome instanceof Outcome.Accepted)) {
            assertNotAccepted(outcome);
            if (System.nanoTime() > deadline) {
                fail("the destination is back, but after " + patience() + " the sink still answers: " + outcome);
            }
            // The sink's answer is the only signal there is; a short park keeps an instant refusal from spinning.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            envelope = envelope.again();
            CompletionStage<Outcome> answer = sink().send(envelope);
            sink().flush();
            outcome = answer(answer);
        }
        return envelope;
    }

    private Outcome answer(CompletionStage<Outcome> answer) throws InterruptedException {
        try {
            return answer.toCompletableFuture().get(patience().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return fail("no answer within " + patience() + "; a sink must not hang");
        } catch (ExecutionException e) {
            return fail("the answer failed; a sink must answer Retry or Unavailable", e.getCause());
        }
    }

    private List<Received> received(UUID messageId) throws Exception {
        return received().stream()
                .filter(one -> one.messageId().equals(messageId))
                .toList();
    }

    /** The ids of the given messages in the order in which they first arrived. */
    private Set<UUID> firstArrivals(List<Message> messages) throws Exception {
        Set<UUID> wanted = messages.stream().map(Message::id).collect(Collectors.toSet());
        return received().stream()
                .map(Received::messageId)
                .filter(wanted::contains)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static void assertAccepted(Outcome outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Accepted.class);
    }

    private static void assertNotAccepted(Outcome outcome) {
        assertThat(outcome).isInstanceOfAny(Outcome.Unavailable.class, Outcome.Retry.class);
    }

    private static String reason(Outcome outcome) {
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return unavailable.reason();
        }
        if (outcome instanceof Outcome.Retry retry) {
            return retry.reason();
        }
        return fail("expected Unavailable or Retry, got " + outcome);
    }

    private static String fresh() {
        return "contract-" + UUID.randomUUID();
    }
}
