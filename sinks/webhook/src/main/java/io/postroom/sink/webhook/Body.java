package io.postroom.sink.webhook;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.OwnHeaders;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a webhook's body and content headers look like. The payload's bytes are in the body as they are. */
sealed interface Body {

    byte[] bytes(Envelope envelope);

    Map<String, String> headers(Envelope envelope);

    byte[] bytes(Webhook webhook);

    Map<String, String> headers(Webhook webhook);

    /** What Postroom says about the message, under names that no publisher can use. No other header of a message leaves the house. */
    static Map<String, String> own(Message message) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String name : List.of(OwnHeaders.REPLAY, OwnHeaders.PAYLOAD_HASH)) {
            String value = message.headers().get(name);
            if (value != null) {
                headers.put(name, percentEncoded(value));
            }
        }
        return headers;
    }

    /** Space, quote, percent and all that is not printable ASCII, as the HTTP binding has it; no line break survives this. */
    static String percentEncoded(String value) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
            if (b > 0x20 && b < 0x7f && b != '"' && b != '%') {
                encoded.append((char) b);
            } else {
                encoded.append(String.format("%%%02X", b));
            }
        }
        return encoded.toString();
    }

    /** {@code {"type":…,"timestamp":…,"data":payload}}, as Standard Webhooks recommends. */
    record Standard() implements Body {

        @Override
        public byte[] bytes(Envelope envelope) {
            Message message = envelope.message();
            // The payload is JSON by the outbox's own rule; to parse and write it again would change its bytes.
            String json = "{\"type\":" + quoted(message.eventType()) + ",\"timestamp\":\"" + message.occurredAt()
                    + "\",\"data\":" + message.payload() + "}";
            return json.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Map<String, String> headers(Envelope envelope) {
            Map<String, String> headers = own(envelope.message());
            headers.put("content-type", "application/json");
            return headers;
        }

        /** No timestamp: the body is the same at every attempt, and when that is the signed header says. */
        @Override
        public byte[] bytes(Webhook webhook) {
            String json = "{\"type\":" + quoted(webhook.type()) + ",\"data\":" + webhook.data() + "}";
            return json.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Map<String, String> headers(Webhook webhook) {
            return Map.of("content-type", "application/json");
        }

        private static String quoted(String text) {
            StringBuilder json = new StringBuilder("\"");
            for (char c : text.toCharArray()) {
                if (c == '"' || c == '\\') {
                    json.append('\\').append(c);
                } else if (c < 0x20) {
                    json.append(String.format("\\u%04x", (int) c));
                } else {
                    json.append(c);
                }
            }
            return json.append('"').toString();
        }
    }

    /** A CloudEvent in binary mode: attributes in {@code ce-} headers, the payload alone as the body. */
    record CloudEvent(String source) implements Body {

        @Override
        public byte[] bytes(Envelope envelope) {
            return envelope.message().payload().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Map<String, String> headers(Envelope envelope) {
            Message message = envelope.message();
            Map<String, String> headers = own(message);
            headers.put("content-type", "application/json");
            headers.put("ce-specversion", "1.0");
            put(headers, "id", message.id().toString());
            put(headers, "source", source);
            put(headers, "type", message.eventType());
            put(headers, "time", message.occurredAt().toString());
            put(headers, "subject", message.aggregateId());
            put(headers, "partitionkey", message.aggregateId());
            // Padded, so that the order of texts is the order of positions.
            put(headers, "sequence", String.format("%019d", envelope.position()));
            put(headers, "tenantid", message.tenantId());
            put(headers, "aggregatetype", message.aggregateType());
            put(headers, "aggregateversion", Objects.toString(message.aggregateVersion(), null));
            put(headers, "eventversion", Integer.toString(message.eventVersion()));
            // The trace in which the event was made.
            put(headers, "traceparent", message.headers().get("traceparent"));
            put(headers, "tracestate", message.headers().get("tracestate"));
            return headers;
        }

        @Override
        public byte[] bytes(Webhook webhook) {
            return webhook.data().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Map<String, String> headers(Webhook webhook) {
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("content-type", "application/json");
            headers.put("ce-specversion", "1.0");
            put(headers, "id", webhook.id());
            put(headers, "source", source);
            put(headers, "type", webhook.type());
            put(headers, "tenantid", webhook.tenantId());
            return headers;
        }

        private static void put(Map<String, String> headers, String name, @Nullable String value) {
            if (value != null && !value.isEmpty()) {
                headers.put("ce-" + name, percentEncoded(value));
            }
        }
    }
}
