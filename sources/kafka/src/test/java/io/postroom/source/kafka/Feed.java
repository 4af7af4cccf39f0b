package io.postroom.source.kafka;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Writes messages to a topic as the Kafka sink does, each one to five times, and some things that are no messages. */
final class Feed implements AutoCloseable {
    private final KafkaSink sink;
    private final Random random;
    private long position;

    Feed(KafkaBroker broker, String topic, long seed) {
        sink = KafkaSink.builder()
                .bootstrapServers(broker.bootstrapServers())
                .topic(topic)
                .build();
        random = new Random(seed);
    }

    /** So many messages over some accounts, with their repetitions; returns the messages. One of a key is sent at a time, as lanes do. */
    List<Message> send(int count, int accounts) throws Exception {
        return send(count, accounts, 5);
    }

    /** One message for each account, once: when they have been applied, so has all that was sent before. */
    List<Message> sendLast(int accounts) throws Exception {
        return send(accounts, accounts, 1);
    }

    private List<Message> send(int count, int accounts, int timesMax) throws Exception {
        List<Message> messages = new ArrayList<>();
        Map<String, CompletableFuture<?>> answers = new HashMap<>();
        for (int i = 0; i < count; i++) {
            position++;
            Message message = message("account-" + position % accounts, position, position);
            messages.add(message);
            send(message, position, answers);
            for (int again = random.nextInt(timesMax); again > 0; again--) {
                // A copy of this one or of an earlier one, as after a crash of the relay.
                int which = Math.max(0, i - random.nextInt(30));
                send(messages.get(which), position - (i - which), answers);
            }
        }
        for (CompletableFuture<?> answer : answers.values()) {
            answer.get();
        }
        return messages;
    }

    private void send(Message message, long at, Map<String, CompletableFuture<?>> answers) throws Exception {
        CompletableFuture<?> before = answers.get(message.aggregateId());
        if (before != null) {
            before.get();
        }
        answers.put(
                message.aggregateId(), sink.send(new Envelope(at, message, 1)).toCompletableFuture());
    }

    static Message message(String account, long version, long amount) {
        return Message.about("account", account)
                .event("Booked")
                .aggregateVersion(version)
                .payload("{\"amount\":" + amount + "}")
                .build();
    }

    @Override
    public void close() {
        sink.close();
    }
}
