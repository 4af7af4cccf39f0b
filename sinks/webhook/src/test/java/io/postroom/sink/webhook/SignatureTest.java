package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.testkit.Messages;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.X509EncodedKeySpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Signatures, verified by the Standard Webhooks library and by the JDK. */
class SignatureTest {
    private static final int DELIVERIES_DURING_ROTATION = 10_000;
    private static final int DELIVERIES_AT_ONCE = 500;

    private Receiver receiver;

    @BeforeEach
    void open() throws Exception {
        receiver = new Receiver();
    }

    @AfterEach
    void close() {
        receiver.close();
    }

    @Test
    void signsTheExactBytesSent() throws Exception {
        try (WebhookSink sink = Sending.local(receiver.url("/")).build()) {
            for (String payload : Messages.awkwardPayloads().values()) {
                Sending.send(sink, Messages.order("order-1", payload));
            }
        }
        assertThat(receiver.requests()).hasSize(Messages.awkwardPayloads().size());
        for (Receiver.Request request : receiver.requests()) {
            verify(Sending.SECRET, request);
        }
    }

    @Test
    void signsCloudEventsTheSameWay() throws Exception {
        try (WebhookSink sink =
                Sending.local(receiver.url("/")).cloudEvents("/orders").build()) {
            Sending.send(sink);
        }
        verify(Sending.SECRET, receiver.only());
    }

    @Test
    void aChangedByteOrAnotherSecretDoesNotVerify() throws Exception {
        try (WebhookSink sink = Sending.local(receiver.url("/")).build()) {
            Sending.send(sink);
        }
        Receiver.Request request = receiver.only();
        assertThatThrownBy(() -> verify(Sending.OTHER_SECRET, request))
                .isInstanceOf(WebhookVerificationException.class);
        String changed = new String(request.body(), StandardCharsets.UTF_8).replace("12.50", "12.5");
        assertThatThrownBy(() -> new Webhook(Sending.SECRET)
                        .verify(changed, request.headers().map()))
                .isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void theIdStaysAndTheTimeIsThatOfTheAttempt() throws Exception {
        Settable clock = new Settable(Instant.parse("2026-03-01T12:00:00.900Z"));
        receiver.answer(Receiver.Answer.of(500));
        Message message = Messages.sample();
        try (WebhookSink sink = Sending.local(receiver.url("/")).clock(clock).build()) {
            Sending.send(sink, message);
            clock.advance(Duration.ofMinutes(5));
            Sending.answer(sink.send(Messages.firstAttempt(message).again()));
        }
        List<Receiver.Request> requests = receiver.requests();
        assertThat(requests)
                .extracting(one -> one.header("webhook-id"))
                .containsOnly(message.id().toString());
        assertThat(requests)
                .extracting(one -> one.header("webhook-timestamp"))
                .containsExactly("1772366400", "1772366700");
        assertThat(requests).extracting(one -> one.header("webhook-signature")).doesNotHaveDuplicates();
    }

    @Test
    void everyActiveSecretSigns() throws Exception {
        try (WebhookSink sink =
                Sending.local(receiver.url("/")).secret(Sending.OTHER_SECRET).build()) {
            Sending.send(sink);
        }
        assertThat(receiver.only().header("webhook-signature")).matches("v1,\\S+ v1,\\S+");
        verify(Sending.SECRET, receiver.only());
        verify(Sending.OTHER_SECRET, receiver.only());
    }

    @Test
    void ed25519SignaturesVerifyWithThePublicKey() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] seed = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
        byte[] x509 = pair.getPublic().getEncoded();
        byte[] whole = Arrays.copyOf(seed, 64);
        System.arraycopy(x509, x509.length - 32, whole, 32, 32);
        for (byte[] key : List.of(seed, whole)) {
            try (WebhookSink sink = WebhookSink.to(receiver.url("/"))
                    .secret("whsk_" + Base64.getEncoder().encodeToString(key))
                    .allowPrivate("127.0.0.1")
                    .allowHttp()
                    .build()) {
                Sending.send(sink);
            }
        }
        assertThat(receiver.requests()).hasSize(2);
        for (Receiver.Request request : receiver.requests()) {
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(x509)));
            verifier.update((request.header("webhook-id") + "." + request.header("webhook-timestamp") + ".")
                    .getBytes(StandardCharsets.US_ASCII));
            verifier.update(request.body());
            String signature = request.header("webhook-signature");
            assertThat(signature).startsWith("v1a,");
            assertThat(verifier.verify(Base64.getDecoder().decode(signature.substring(4))))
                    .isTrue();
        }
    }

    @Test
    void refusesAnEd25519KeyWithAnothersPublicHalf() throws Exception {
        byte[] whole = Arrays.copyOf(
                ((EdECPrivateKey) KeyPairGenerator.getInstance("Ed25519")
                                .generateKeyPair()
                                .getPrivate())
                        .getBytes()
                        .orElseThrow(),
                64);
        byte[] other = KeyPairGenerator.getInstance("Ed25519")
                .generateKeyPair()
                .getPublic()
                .getEncoded();
        System.arraycopy(other, other.length - 32, whole, 32, 32);
        assertThatThrownBy(() -> SigningKey.parse("whsk_" + Base64.getEncoder().encodeToString(whole)))
                .hasMessage("secret's public half does not belong to its private half");
    }

    /** The receiver changes its one secret at some moment in the window; a webhook that it cannot verify it answers with 401. */
    @Test
    void rotationLosesNoWebhook() throws Exception {
        AtomicReference<String> receiversSecret = new AtomicReference<>(Sending.SECRET);
        receiver.answer(request -> {
            try {
                verify(receiversSecret.get(), request);
                return Receiver.Answer.of(204);
            } catch (WebhookVerificationException e) {
                return Receiver.Answer.of(401);
            }
        });
        List<Outcome> outcomes = new ArrayList<>();
        try (WebhookSink sink = Sending.local(receiver.url("/")).build()) {
            for (int sent = 0; sent < DELIVERIES_DURING_ROTATION; sent += DELIVERIES_AT_ONCE) {
                List<CompletionStage<Outcome>> answers = new ArrayList<>();
                for (int n = 0; n < DELIVERIES_AT_ONCE; n++) {
                    // Both in the middle of what is under way.
                    if (sent + n == DELIVERIES_DURING_ROTATION / 2 - 250) {
                        sink.rotate(Sending.OTHER_SECRET);
                    }
                    if (sent + n == DELIVERIES_DURING_ROTATION / 2 + 250) {
                        receiversSecret.set(Sending.OTHER_SECRET);
                    }
                    answers.add(sink.send(Messages.firstAttempt(Messages.order("order-" + n))));
                }
                for (CompletionStage<Outcome> answer : answers) {
                    outcomes.add(Sending.answer(answer));
                }
            }
            assertThat(sink.activeSecrets()).isEqualTo(2);
        }
        assertThat(outcomes).hasSize(DELIVERIES_DURING_ROTATION).allMatch(Outcome.Accepted.class::isInstance);
    }

    @Test
    void theOldSecretSignsUntilTheWindowHasPassed() throws Exception {
        Settable clock = new Settable(Instant.now());
        try (WebhookSink sink = Sending.local(receiver.url("/"))
                .clock(clock)
                .rotationWindow(Duration.ofHours(1))
                .build()) {
            sink.rotate(Sending.OTHER_SECRET);
            clock.advance(Duration.ofMinutes(59));
            assertThat(sink.activeSecrets()).isEqualTo(2);
            clock.advance(Duration.ofMinutes(1));
            assertThat(sink.activeSecrets()).isEqualTo(1);
            Sending.send(sink);
            assertThat(receiver.only().header("webhook-signature")).doesNotContain(" ");
        }
    }

    @Test
    void refusesToRotateToASecretThatSignsAlreadyOrToTooMany() {
        try (WebhookSink sink = Sending.local(receiver.url("/")).build()) {
            assertThatThrownBy(() -> sink.rotate(Sending.SECRET)).isInstanceOf(IllegalArgumentException.class);
            for (int n = 1; n < SigningKeys.ACTIVE_MAX; n++) {
                sink.rotate(secret(n));
            }
            assertThatThrownBy(() -> sink.rotate(secret(99)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("5 sign already, the limit is 5");
            assertThat(sink.activeSecrets()).isEqualTo(SigningKeys.ACTIVE_MAX);
        }
    }

    private static String secret(int n) {
        byte[] bytes = new byte[24];
        Arrays.fill(bytes, (byte) n);
        return "whsec_" + Base64.getEncoder().encodeToString(bytes);
    }

    private static void verify(String secret, Receiver.Request request) throws Exception {
        Map<String, List<String>> headers = request.headers().map();
        new Webhook(secret).verify(new String(request.body(), StandardCharsets.UTF_8), headers);
    }

    /** A clock that moves when told to. */
    private static final class Settable extends Clock {
        private Instant now;

        private Settable(Instant now) {
            this.now = now;
        }

        private synchronized void advance(Duration step) {
            now = now.plus(step);
        }

        @Override
        public synchronized Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }
}
