package io.postroom.benchmark;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import java.util.ArrayList;
import java.util.List;

/** Messages such as services send: a payload of some 400 bytes, keys that repeat. */
final class Sample {
    static final int KEYS = 10_000;
    private static final String FILLER = "lorem ipsum dolor sit amet consectetur ".repeat(7);

    private Sample() {}

    static String payload(long n) {
        return "{\"orderId\":\"o-" + n + "\",\"customer\":{\"id\":" + n % 977 + ",\"country\":\"PT\"},\"total\":\""
                + n % 10_000 + ".50\",\"note\":\"" + FILLER + "\"}";
    }

    static Message message(long n) {
        return Message.about("order", "o-" + n % KEYS)
                .event("OrderPlaced")
                .payload(payload(n))
                .build();
    }

    static Envelope envelope(long n) {
        return new Envelope(n + 1, message(n), 1);
    }

    static List<Message> messages(long from, int count) {
        List<Message> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            messages.add(message(from + i));
        }
        return messages;
    }

    /** The same messages, made by the server itself, for filling a backlog. */
    static String backlog(long count) {
        return "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload)"
                + " select gen_random_uuid(), 'order', 'o-' || n % " + KEYS + ", 'OrderPlaced',"
                + " ('{\"orderId\":\"o-' || n || '\",\"customer\":{\"id\":' || n % 977 || ',\"country\":\"PT\"},\"total\":\"' || n % 10000"
                + " || '.50\",\"note\":\"" + FILLER + "\"}')::json from generate_series(1, " + count + ") as n";
    }
}
