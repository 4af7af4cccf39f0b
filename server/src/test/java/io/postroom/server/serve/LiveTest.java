package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.server.web.Payloads;
import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** What those see who watch. */
@Timeout(120)
class LiveTest {
    private static final String TOKEN = "token-of-anna";
    private static ConsoleUnderTest console;

    @BeforeAll
    static void start() throws Exception {
        console = console();
    }

    private static ConsoleUnderTest console() throws Exception {
        String hash = HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes(StandardCharsets.UTF_8)));
        ConsoleUnderTest made = ConsoleUnderTest.start(WebSettings.builder()
                .port(0)
                .accounts(Map.of(hash, new User("anna", Role.VIEWER)))
                .payloads(Payloads.SHOWN)
                .build());
        made.submit("/sign-in", "/sign-in", Map.of("token", TOKEN));
        return made;
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    private static void awaitTrue(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    /** The end of the journal. */
    private static long head() {
        return console.database().postroom().journal().refreshHead().position();
    }

    private static void publish(String type, String key, int count) throws Exception {
        try (Connection tx = console.database().begin()) {
            List<Message> messages = IntStream.range(0, count)
                    .mapToObj(n -> Message.about("order", key)
                            .event(type)
                            .payload("{\"customer\":{\"id\":" + n + "}}")
                            .build())
                    .toList();
            console.database().postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
        console.database().postroom().journal().stampAll();
    }

    @Test
    void newMessagesComeOnceInOrderAndGoOnAfterTheLastOneSeen() throws Exception {
        publish("Before", "o-0", 1);
        long head = head();
        String last;
        try (Events events = console.watch("/messages/live?after=" + head)) {
            events.nextLine("retry: ");
            publish("OrderPlaced", "o-1", 3);
            List<Long> positions = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                JsonNode message = events.next("message");
                assertThat(message.get("eventType").asString()).isEqualTo("OrderPlaced");
                assertThat(message.has("payload")).isFalse();
                positions.add(message.get("position").asLong());
            }
            assertThat(positions).containsExactly(head + 1, head + 2, head + 3);
            last = events.lastId();
        }
        publish("OrderPaid", "o-1", 2);
        try (Events events = console.watch("/messages/live", "Last-Event-ID", last)) {
            assertThat(events.next("message").get("position").asLong()).isEqualTo(head + 4);
            assertThat(events.next("message").get("position").asLong()).isEqualTo(head + 5);
        }
    }

    @Test
    void onlyWhatFitsIsShownAndTheRestMovesThePosition() throws Exception {
        long head = head();
        try (Events paid = console.watch("/messages/live?type=OrderPaid&key=o-2");
                Events field = console.watch("/messages/live?data=customer.id=1")) {
            paid.nextLine("retry: ");
            field.nextLine("retry: ");
            publish("OrderPlaced", "o-1", 3);
            publish("OrderPaid", "o-1", 1);
            publish("OrderPaid", "o-2", 1);
            assertThat(paid.next("message").get("position").asLong()).isEqualTo(head + 5);
            assertThat(field.next("message").get("position").asLong()).isEqualTo(head + 2);
            publish("OrderPlaced", "o-3", 1);
            assertThat(paid.nextLine("id: " + (head + 6))).isNotEmpty();
        }
    }

    @Test
    void moreThanOneCanFollowIsLeftOutAndCounted() throws Exception {
        publish("OrderPlaced", "o-1", 2_200);
        long head = head();
        long shown = 0;
        long leftOut = 0;
        try (Events events = console.watch("/messages/live?after=" + (head - 2_200))) {
            long last = 0;
            while (last < head) {
                Events.Event event = events.next();
                if (event.name().equals("left-out")) {
                    leftOut += event.data().get("messages").asLong();
                } else {
                    assertThat(event.data().get("position").asLong()).isGreaterThan(last);
                    last = event.data().get("position").asLong();
                    shown++;
                }
            }
        }
        assertThat(shown).isLessThanOrEqualTo(100);
        assertThat(shown + leftOut).isEqualTo(2_200);
    }

    @Test
    void statusComesAgainAndAgain() throws Exception {
        try (Events events = console.watch("/events")) {
            String first = events.next("status").get("at").asString();
            assertThat(events.next("status").get("at").asString()).isGreaterThan(first);
        }
    }

    @Test
    void silenceIsBrokenByBeats() throws Exception {
        try (Events events = console.watch("/messages/live")) {
            events.nextLine(": still here");
        }
    }

    @Test
    void signingOutEndsWhatTheSessionWatches() throws Exception {
        try (Events mine = console.watch("/messages/live");
                Events other = console.watch("/messages/live", "Authorization", "Bearer " + TOKEN)) {
            mine.nextLine("retry: ");
            console.submit("/", "/sign-out", Map.of());
            assertThat(mine.next("end").get("why").asString()).isEqualTo("signed out");
            assertThat(mine.next()).isNull();
            publish("OrderPlaced", "o-1", 1);
            assertThat(other.next("message").get("position").asLong()).isEqualTo(head());
        }
        try (Events again = console.watch("/messages/live")) {
            assertThat(again.status()).isEqualTo(401);
        }
        console.submit("/sign-in", "/sign-in", Map.of("token", TOKEN));
    }

    @Test
    void thereIsALimitOfOpenStreamsAndAStopEndsThemAll() throws Exception {
        List<Events> open = new ArrayList<>();
        try (ConsoleUnderTest crowded = console()) {
            for (int i = 0; i < 60; i++) {
                open.add(crowded.watch("/messages/live"));
                assertThat(open.get(i).status()).isEqualTo(200);
            }
            try (Events refused = crowded.watch("/events")) {
                assertThat(refused.status()).isEqualTo(503);
                assertThat(refused.rest()).contains("stream.too-many", "60");
            }
            assertThat(crowded.get("/api/v1/status").statusCode()).isEqualTo(200);
            crowded.stop();
            for (Events events : open) {
                assertThat(events.next("end").get("why").asString()).isEqualTo("stopping");
                assertThat(events.next()).isNull();
            }
        } finally {
            for (Events events : open) {
                events.close();
            }
        }
    }

    @Test
    void aStopEndsThoseWhoWaitForTheDatabaseTooAndCutsNobodyOff() throws Exception {
        try (ConsoleUnderTest stopped = console();
                Events first = stopped.watch("/messages/live");
                Events second = stopped.watch("/messages/live");
                Connection tx = stopped.database().begin()) {
            first.nextLine("retry: ");
            second.nextLine("retry: ");
            tx.createStatement().execute("lock table postroom.journal, postroom.tick in access exclusive mode");
            awaitTrue(() -> stopped.database()
                            .queryLong("select count(*) from pg_locks as l join pg_class as c on c.oid = l.relation"
                                    + " where not l.granted and c.relname in ('journal', 'tick')")
                    > 0);
            stopped.stop();
            for (Events events : List.of(first, second)) {
                assertThat(events.next("end").get("why").asString()).isEqualTo("stopping");
                assertThat(events.next()).isNull();
            }
            tx.rollback();
        }
    }

    @Test
    void nonsenseIsRefusedBeforeAnythingIsSent() throws Exception {
        for (String path : List.of("/messages/live?after=x", "/messages/live?before=3", "/messages/live?data=x")) {
            try (Events events = console.watch(path)) {
                assertThat(events.status()).as(path).isEqualTo(400);
            }
        }
        try (Events events = console.watch("/messages/live", "Last-Event-ID", "first")) {
            assertThat(events.status()).isEqualTo(400);
        }
    }
}
