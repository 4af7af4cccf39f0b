package io.postroom.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTest {

    @Test
    void makesWhatIsNotGiven() {
        Instant before = Instant.now().minusMillis(1);
        Message message =
                Message.about("order", "o1").event("OrderPlaced").payload("{}").build();
        assertThat(message.id().version()).isEqualTo(7);
        assertThat(message.occurredAt()).isBetween(before, Instant.now());
        assertThat(message.eventVersion()).isEqualTo(1);
        assertThat(message.tenantId()).isNull();
        assertThat(message.aggregateVersion()).isNull();
        assertThat(message.availableAt()).isNull();
        assertThat(message.headers()).isEmpty();
        assertThat(message.key()).isEqualTo(new Message.Key(null, "order", "o1"));
    }

    /** A message with as many headers as it may have, published within a trace, must be received as well. */
    @Test
    void aTraceIsNotCountedAmongTheHeaders() {
        Map<String, String> headers = new HashMap<>();
        for (int i = 0; i < MessageRules.HEADERS_MAX; i++) {
            headers.put("header-" + i, "value");
        }
        Message.Builder message =
                Message.about("order", "o1").event("OrderPlaced").payload("{}").headers(headers);
        Message traced = message.header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .header("tracestate", "vendor=1")
                .build();
        MessageRules.checkReceived(traced);
        MessageRules.check(traced);
        assertThat(MessageRules.fitting(new TreeMap<>(traced.headers()))).isEqualTo(traced.headers());
        assertThatThrownBy(() -> MessageRules.checkReceived(
                        message.header("one-more", "value").build()))
                .hasMessageContaining("there are 65 headers, the limit is 64");
        assertThatThrownBy(() -> MessageRules.check(message.build())).hasMessageContaining("headers, the limit is 64");
        assertThatThrownBy(() -> MessageRules.checkReceived(
                        message.header("tracestate", "x".repeat(9_000)).build()))
                .isInstanceOf(InvalidMessageException.class);
    }

    @Test
    void doesNotChangeWhenItsHeadersDo() {
        Map<String, String> headers = new HashMap<>(Map.of("a", "1"));
        Message message = Message.about("order", "o1")
                .event("OrderPlaced")
                .payload("{}")
                .headers(headers)
                .build();
        headers.put("b", "2");
        assertThat(message.headers()).isEqualTo(Map.of("a", "1"));
        assertThatThrownBy(() -> message.headers().put("c", "3")).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-01-01T00:00:00.123456789Z",
                "1969-12-31T23:59:59.999999999Z",
                "-1000000000-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z"
            })
    void keepsTimesToTheMicrosecond(String text) {
        Instant time = Instant.parse(text);
        Message message = Message.about("order", "o1")
                .event("E")
                .payload("{}")
                .occurredAt(time)
                .availableAt(time)
                .build();
        assertThat(message.occurredAt().getNano() % 1_000).isZero();
        assertThat(Duration.between(message.occurredAt(), time)).isBetween(Duration.ZERO, Duration.ofNanos(999));
        assertThat(message.availableAt()).isEqualTo(message.occurredAt());
    }

    @Test
    void idsGrowWithinAProcessAndAreNeverGivenTwice() throws Exception {
        List<UUID> ids =
                IntStream.range(0, 20_000).mapToObj(n -> TimeOrderedId.next()).toList();
        // As text and as PostgreSQL sorts them; UUID.compareTo is signed.
        assertThat(ids.stream().map(UUID::toString)).isSorted();
        assertThat(ids).allMatch(id -> id.version() == 7 && id.variant() == 2);

        Set<UUID> all = ConcurrentHashMap.newKeySet();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Boolean>> four = Collections.nCopies(4, () -> {
                for (int i = 0; i < 20_000; i++) {
                    all.add(TimeOrderedId.next());
                }
                return true;
            });
            for (Future<Boolean> each : threads.invokeAll(four)) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(all).hasSize(80_000);
    }

    @Test
    void anIdTellsWhenItWasMade() {
        long before = System.currentTimeMillis();
        long made = TimeOrderedId.next().getMostSignificantBits() >>> 16;
        // Ids made faster than the clock ticks run ahead of it, by a millisecond for every 4096.
        assertThat(made).isBetween(before, System.currentTimeMillis() + 1_000);
    }

    @Test
    void headersSurviveTheirText() {
        Map<String, String> headers = Map.of("a", "", "b", "\"\\/\u2028🚀", "c", "{\"x\":1}");
        assertThat(HeaderText.read(HeaderText.write(headers))).isEqualTo(headers);
        assertThat(HeaderText.write(Map.of())).isNull();
        assertThat(HeaderText.read(null)).isEmpty();
        assertThat(HeaderText.read("{}")).isEmpty();
        assertThat(HeaderText.write(Map.of("u", "https://example.org/"))).isEqualTo("{\"u\":\"https://example.org/\"}");
    }

    record Placed(String customer, int total) {}

    @Test
    void aPayloadThatDoesNotFitIsNamedButNotShown() {
        JacksonCodec codec = new JacksonCodec();
        for (String json : List.of("{\"customer\":\"hunter2\",\"total\":\"hunter2\"}", "[\"hunter2\"]", "hunter2")) {
            InvalidMessageException refusal =
                    catchThrowableOfType(InvalidMessageException.class, () -> codec.decode(json, Placed.class));
            assertThat(refusal.code()).isEqualTo("message.payload-not-decodable");
            assertThat(refusal)
                    .hasMessageContaining(Placed.class.getName())
                    .hasMessageNotContaining("hunter2")
                    .hasNoCause();
        }
    }

    @Test
    void anObjectThatCannotBeWrittenIsNamed() {
        List<Object> endless = new ArrayList<>();
        endless.add(endless);
        assertThatThrownBy(() -> new JacksonCodec().encode(endless))
                .hasMessageContaining("java.util.ArrayList")
                .extracting("code")
                .isEqualTo("message.payload-not-encodable");
    }

    @Test
    void noTypeIsEverTakenFromAPayload() {
        Object decoded = new JacksonCodec()
                .decode("{\"@class\":\"java.util.concurrent.atomic.AtomicLong\",\"@type\":\"x\"}", Object.class);
        assertThat(decoded).isInstanceOf(Map.class);
    }

    @Test
    void envelopesCountFromOne() {
        Message message = Message.about("order", "o1").event("E").payload("{}").build();
        assertThat(new Envelope(1, message, 1).again().attempt()).isEqualTo(2);
        assertThatIllegalArgumentException().isThrownBy(() -> new Envelope(0, message, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Envelope(1, message, 0));
    }
}
