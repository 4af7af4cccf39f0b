package io.postroom.sink.webhook;

import io.postroom.message.Envelope;
import java.util.Map;

/** What a courier carries: a message, or a webhook that is none. */
sealed interface Parcel {

    /** The webhook-id. */
    String id();

    /** What a reason calls it. */
    String subject();

    byte[] bytes(Body body);

    Map<String, String> headers(Body body);

    /** What happens next, for the end of a reason. */
    String consequence(Verdict verdict);

    record OfMessage(Envelope envelope) implements Parcel {
        @Override
        public String id() {
            return envelope.message().id().toString();
        }

        @Override
        public String subject() {
            return "message " + id();
        }

        @Override
        public byte[] bytes(Body body) {
            return body.bytes(envelope);
        }

        @Override
        public Map<String, String> headers(Body body) {
            return body.headers(envelope);
        }

        @Override
        public String consequence(Verdict verdict) {
            return verdict.consequence();
        }
    }

    record OfWebhook(Webhook webhook) implements Parcel {
        @Override
        public String id() {
            return webhook.id();
        }

        @Override
        public String subject() {
            return webhook.subject();
        }

        @Override
        public byte[] bytes(Body body) {
            return body.bytes(webhook);
        }

        @Override
        public Map<String, String> headers(Body body) {
            return body.headers(webhook);
        }

        @Override
        public String consequence(Verdict verdict) {
            return verdict.consequenceAlone();
        }
    }
}
