package io.postroom.sink.webhook;

import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.retry.Fault;
import io.postroom.testkit.Messages;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** What the tests of this package share: secrets, and sending with a deadline. */
final class Sending {
    static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    static final String OTHER_SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    private static final long PATIENCE_SECONDS = 30;

    private Sending() {}

    /** A sink that may send to the loopback address without TLS. */
    static WebhookSink.Builder local(String url) {
        return WebhookSink.to(url).secret(SECRET).allowPrivate("127.0.0.0/8").allowHttp();
    }

    static Outcome send(WebhookSink sink, Message message) throws Exception {
        return answer(sink.send(Messages.firstAttempt(message)));
    }

    static Outcome send(WebhookSink sink) throws Exception {
        return send(sink, Messages.sample());
    }

    static Outcome answer(CompletionStage<Outcome> stage) throws Exception {
        return stage.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    static String reason(Outcome outcome) {
        return fault(outcome).message();
    }

    static String errorClass(Outcome outcome) {
        return fault(outcome).errorClass();
    }

    private static Fault fault(Outcome outcome) {
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return unavailable.fault();
        }
        if (outcome instanceof Outcome.Retry retry) {
            return retry.fault();
        }
        if (outcome instanceof Outcome.Rejected rejected) {
            return rejected.fault();
        }
        throw new AssertionError("no fault in " + outcome);
    }
}
