package io.postroom.testkit;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Sample messages for tests. Each call makes a message with an id of its own; nothing is remembered. */
public final class Messages {

    /** The greatest payload that an outbox takes unless told otherwise. */
    public static final int PAYLOAD_BYTES_MAX = 1_048_576;

    private Messages() {}

    /** Some message about some order. */
    public static Message sample() {
        return order("order-1");
    }

    /** A message about the given order. */
    public static Message order(String orderId) {
        return order(orderId, "{\"total\":12.50}");
    }

    /** A message about the given order with the given JSON text as payload. */
    public static Message order(String orderId, String payload) {
        return Message.about("order", orderId)
                .event("OrderConfirmed")
                .payload(payload)
                .build();
    }

    /** So many messages of one key, numbered from zero in the payload and from one in the version. */
    public static List<Message> sequence(String orderId, int count) {
        return IntStream.range(0, count)
                .mapToObj(n -> Message.about("order", orderId)
                        .event("OrderChanged")
                        .aggregateVersion(n + 1L)
                        .payload("{\"n\":" + n + "}")
                        .build())
                .toList();
    }

    /** One message for each of so many keys. */
    public static List<Message> ofManyKeys(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(n -> order(prefix + "-" + n)).toList();
    }

    /** The first attempt to deliver a message, as if it stood first in the journal. */
    public static Envelope firstAttempt(Message message) {
        return new Envelope(1, message, 1);
    }

    /** Payloads that a careless path changes, by what is special about them. */
    public static Map<String, String> awkwardPayloads() {
        Map<String, String> payloads = new TreeMap<>();
        payloads.put("unicode", "{\"name\":\"Zoë 東京 🚀 e\u0301 \u00e9\",\"rtl\":\"\u05e9\u05dc\u05d5\u05dd\"}");
        payloads.put("escapes", "{\"a\":\"\\u00e9\\/\\n\\t\\\"\\\\ \\ud83d\\ude80\",\"b\":\"</script>&<>'\"}");
        payloads.put(
                "big numbers", "{\"n\":12345678901234567890123456789,\"d\":0.10,\"e\":1E400,\"z\":-0.0,\"i\":1.0}");
        payloads.put("whitespace", " \n\t{ \"b\" :\r\n 1 ,\t\"a\":[ ] } \n");
        payloads.put("order of names", "{\"z\":1,\"a\":2,\"m\":{\"y\":3,\"b\":4}}");
        payloads.put("an array", "[1, 2,3 ]");
        payloads.put("a string", "\"just text\"");
        payloads.put("null", "null");
        payloads.put("1 MB", megabyte());
        return payloads;
    }

    private static String megabyte() {
        String start = "{\"text\":\"";
        String end = "\"}";
        String filler = "0123456789abcdé";
        int room = PAYLOAD_BYTES_MAX - start.length() - end.length();
        int fillerBytes = filler.getBytes(StandardCharsets.UTF_8).length;
        return start + filler.repeat(room / fillerBytes) + "x".repeat(room % fillerBytes) + end;
    }
}
