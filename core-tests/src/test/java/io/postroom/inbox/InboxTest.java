package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.TimeOrderedId;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;

class InboxTest {
    static TestDatabase database;
    static Inbox inbox;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        inbox = database.postroom().inbox();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void empty() {
        database.execute("truncate postroom.inbox");
    }

    /** An id of version 7 that was made at a time. */
    static UUID madeAt(Instant time) {
        UUID any = TimeOrderedId.next();
        return new UUID(
                time.toEpochMilli() << 16 | 0x7000L | any.getMostSignificantBits() & 0xFFF,
                any.getLeastSignificantBits());
    }

    static Stream<Arguments> ids() {
        Instant now = Instant.now();
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        String todays = "inbox_" + today.toString().replace("-", "");
        return Stream.of(
                Arguments.of("of version 7, made now", TimeOrderedId.next(), todays),
                Arguments.of("of version 7, long ago", madeAt(Instant.parse("2019-02-03T04:05:06Z")), "inbox_default"),
                Arguments.of("of version 7, at the beginning", madeAt(Instant.EPOCH), "inbox_default"),
                Arguments.of("of version 7, far ahead", madeAt(now.plusSeconds(400L * 86_400)), "inbox_default"),
                Arguments.of("of version 7, at the end", new UUID(-0x8001L, -0x4000000000000001L), "inbox_default"),
                Arguments.of("of version 4", UUID.randomUUID(), "inbox_undated"),
                Arguments.of("of version 3", UUID.nameUUIDFromBytes(new byte[] {1}), "inbox_undated"),
                Arguments.of("of version 7 and another variant", new UUID(0x0190_0000_0000_7000L, 1), "inbox_undated"),
                Arguments.of("of all ones", new UUID(-1, -1), "inbox_undated"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    void answersByIdAndContentWhateverTheIdIs(String what, UUID id, String partition) throws SQLException {
        Received message = Received.of(id, "{\"a\":1}");
        Received other = Received.of(id, "{\"a\":2}");
        assertThat(accept(message)).containsExactly(Acceptance.FIRST);
        assertThat(accept(message)).containsExactly(Acceptance.DUPLICATE);
        assertThat(accept(other)).containsExactly(Acceptance.CONFLICT);
        assertThat(accept(other, message, message, other))
                .containsExactly(Acceptance.CONFLICT, Acceptance.DUPLICATE, Acceptance.DUPLICATE, Acceptance.CONFLICT);
        assertThat(database.queryLong("select count(*) from postroom." + partition))
                .isOne();
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isOne();
    }

    /** PostgreSQL looks through the default partition under such a lock, for each day that is added. */
    @Test
    void acceptingWaitsForNobodyWhoLooksThroughADayThatIsNotItsOwn() throws SQLException {
        Received known = received("known");
        accept(known);
        try (Connection maintenance = database.begin();
                Statement lock = maintenance.createStatement();
                Connection tx = database.begin();
                Statement limit = tx.createStatement()) {
            lock.execute("lock table postroom.inbox_default in access exclusive mode");
            limit.execute("set local lock_timeout = '2s'");
            Received other = Received.of(known.id(), "{\"other\":1}");
            assertThat(inbox.acceptAll(tx, "billing", List.of(received("new"), known, other)))
                    .containsExactly(Acceptance.FIRST, Acceptance.DUPLICATE, Acceptance.CONFLICT);
        }
    }

    @Test
    void answersABatchInItsOrderAndTheSameIdTwice() throws SQLException {
        Received old = received("old");
        accept(old);
        Received twice = received("twice");
        Received changed = Received.of(UUID.randomUUID(), "one");
        List<Received> batch = new ArrayList<>(List.of(
                twice,
                old,
                received("new"),
                twice,
                changed,
                Received.of(changed.id(), "two"),
                Received.of(old.id(), "other")));
        assertThat(accept(batch.toArray(Received[]::new)))
                .containsExactly(
                        Acceptance.FIRST,
                        Acceptance.DUPLICATE,
                        Acceptance.FIRST,
                        Acceptance.DUPLICATE,
                        Acceptance.FIRST,
                        Acceptance.CONFLICT,
                        Acceptance.CONFLICT);
        Collections.shuffle(batch, new Random(1));
        assertThat(accept(batch.toArray(Received[]::new))).doesNotContain(Acceptance.FIRST);
    }

    @Test
    void takesTheLargestBatchAndNoLarger() throws SQLException {
        List<Received> most = IntStream.range(0, Inbox.BATCH_MAX)
                .mapToObj(n -> received("m" + n))
                .toList();
        assertThat(accept(most.toArray(Received[]::new)))
                .containsOnly(Acceptance.FIRST)
                .hasSize(Inbox.BATCH_MAX);
        assertThat(accept(most.toArray(Received[]::new)))
                .containsOnly(Acceptance.DUPLICATE)
                .hasSize(Inbox.BATCH_MAX);
        List<Received> more = new ArrayList<>(most);
        more.add(received("one more"));
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> inbox.acceptAll(tx, "billing", more))
                    .hasMessageContaining("there are 10001, the limit is 10000")
                    .extracting("code")
                    .isEqualTo("inbox.batch-too-large");
            assertThat(inbox.acceptAll(tx, "billing", List.of())).isEmpty();
        }
    }

    @Test
    void consumersDoNotShareWhatTheyAccepted() throws SQLException {
        UUID id = TimeOrderedId.next();
        byte[] hash = Received.of(id, "x").payloadHash();
        try (Connection tx = database.begin()) {
            assertThat(inbox.accept(tx, "billing", id, hash)).isEqualTo(Acceptance.FIRST);
            assertThat(inbox.accept(tx, "shipping", id, hash)).isEqualTo(Acceptance.FIRST);
            assertThat(inbox.accept(tx, "billing", id, hash)).isEqualTo(Acceptance.DUPLICATE);
            tx.commit();
        }
    }

    @Test
    void whatIsRolledBackWasNotAccepted() throws SQLException {
        Received whole = received("whole");
        Received part = received("part");
        try (Connection tx = database.begin()) {
            assertThat(inbox.acceptAll(tx, "billing", List.of(whole))).containsExactly(Acceptance.FIRST);
            Savepoint savepoint = tx.setSavepoint();
            assertThat(inbox.acceptAll(tx, "billing", List.of(part))).containsExactly(Acceptance.FIRST);
            tx.rollback(savepoint);
            assertThat(inbox.acceptAll(tx, "billing", List.of(part, whole)))
                    .containsExactly(Acceptance.FIRST, Acceptance.DUPLICATE);
            tx.rollback();
        }
        assertThat(accept(whole, part)).containsExactly(Acceptance.FIRST, Acceptance.FIRST);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCopyWaitsForTheOneThatIsBeingHandledAndLearnsHowItEnded(boolean commits) throws Exception {
        Received message = received("contended");
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection tx = database.begin()) {
            inbox.acceptAll(tx, "billing", List.of(received("other"), message));
            Future<List<Acceptance>> copy = thread.submit(() -> accept(received("another"), message));
            awaitWaiting(1);
            assertThat(copy.isDone()).isFalse();
            if (commits) {
                tx.commit();
            } else {
                tx.rollback();
            }
            assertThat(copy.get(10, TimeUnit.SECONDS))
                    .containsExactly(Acceptance.FIRST, commits ? Acceptance.DUPLICATE : Acceptance.FIRST);
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void aConflictIsSeenThoughTheOtherCommittedWhileWeWaited() throws Exception {
        UUID id = TimeOrderedId.next();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection tx = database.begin()) {
            inbox.acceptAll(tx, "billing", List.of(Received.of(id, "one")));
            Future<List<Acceptance>> copy = thread.submit(() -> accept(Received.of(id, "two")));
            awaitWaiting(1);
            tx.commit();
            assertThat(copy.get(10, TimeUnit.SECONDS)).containsExactly(Acceptance.CONFLICT);
        } finally {
            thread.shutdownNow();
        }
    }

    /** The second sees only what was there when it began, so it cannot be told what it met: it must begin again. */
    @Test
    void underRepeatableReadACopyThatCommittedMeanwhileIsAnErrorAndNothingElse() throws SQLException {
        Received message = received("snapshot");
        try (Connection tx = database.begin()) {
            tx.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            execute(tx, "select 1");
            accept(message);
            assertThatThrownBy(() -> inbox.acceptAll(tx, "billing", List.of(message)))
                    .hasMessageContaining("roll back and try again")
                    .extracting("code")
                    .isEqualTo("inbox.serialization");
            tx.rollback();
            assertThat(inbox.acceptAll(tx, "billing", List.of(message))).containsExactly(Acceptance.DUPLICATE);
            assertThat(inbox.acceptAll(tx, "billing", List.of(received("fresh"))))
                    .containsExactly(Acceptance.FIRST);
            tx.rollback();
            tx.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    @Test
    void batchesWithTheSameMessagesInAnyOrderNeverDeadlock() throws Exception {
        int rounds = 40;
        List<List<Received>> batches = IntStream.range(0, rounds)
                .mapToObj(round -> IntStream.range(0, 300)
                        .mapToObj(n -> n % 3 == 0 ? Received.of(UUID.randomUUID(), "x") : received("d" + n))
                        .toList())
                .toList();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Integer>> four = IntStream.range(0, 4)
                    .mapToObj(seed -> (Callable<Integer>) () -> {
                        Random random = new Random(seed);
                        int first = 0;
                        for (List<Received> batch : batches) {
                            List<Received> shuffled = new ArrayList<>(batch);
                            Collections.shuffle(shuffled, random);
                            first += Collections.frequency(accept(shuffled.toArray(Received[]::new)), Acceptance.FIRST);
                        }
                        return first;
                    })
                    .toList();
            int first = 0;
            for (Future<Integer> each : threads.invokeAll(four)) {
                first += each.get();
            }
            assertThat(first)
                    .as("each message is the first for one of the four")
                    .isEqualTo(rounds * 300);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void refusesATransactionThatIsNone() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            assertThat(code(connection, "billing", received("a"))).isEqualTo("inbox.no-transaction");
        }
        try (Connection tx = database.begin()) {
            tx.setReadOnly(true);
            assertThat(code(tx, "billing", received("a"))).isEqualTo("inbox.read-only");
            tx.rollback();
            tx.setReadOnly(false);
            execute(tx, "set transaction read only");
            assertThat(code(tx, "billing", received("a"))).isEqualTo("inbox.read-only");
            tx.rollback();
            assertThatThrownBy(() -> execute(tx, "select 1 / 0")).isInstanceOf(SQLException.class);
            assertThat(code(tx, "billing", received("a"))).isEqualTo("inbox.transaction-aborted");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Billing", "1billing", "bil ling", "billing\n", "-x"})
    void refusesConsumersWithOddNamesInJavaAndSqlAlike(String name) throws SQLException {
        try (Connection tx = database.begin()) {
            assertThat(code(tx, name, received("a"))).isEqualTo("inbox.consumer-invalid");
            assertThat(codeInSql(tx, name, List.of(received("a")))).isEqualTo("inbox.consumer-invalid");
            assertThatThrownBy(() -> inbox.declare(name, Retention.USUAL))
                    .extracting("code")
                    .isEqualTo("inbox.consumer-invalid");
        }
    }

    @Test
    void refusesWhatCannotBeAMessageInJavaAndSqlAlike() throws SQLException {
        Map<String, Received> bad = new TreeMap<>();
        bad.put("inbox.id-invalid", Received.of(new UUID(0, 0), "x"));
        bad.put("inbox.hash-invalid", new Received(UUID.randomUUID(), "short".getBytes(StandardCharsets.UTF_8)));
        try (Connection tx = database.begin()) {
            for (Map.Entry<String, Received> each : bad.entrySet()) {
                assertThat(code(tx, "billing", received("good"), each.getValue()))
                        .isEqualTo(each.getKey());
                assertThat(codeInSql(tx, "billing", List.of(received("good"), each.getValue())))
                        .isEqualTo(each.getKey());
            }
            assertThat(code(tx, "billing", new Received(UUID.randomUUID(), new byte[65])))
                    .isEqualTo("inbox.hash-invalid");
            List<Received> many = Collections.nCopies(10_001, received("many"));
            assertThat(codeInSql(tx, "billing", many)).isEqualTo("inbox.batch-too-large");
            for (String call : List.of(
                    "null, null",
                    "'{}', null",
                    "array[gen_random_uuid()], '{}'",
                    "array[[gen_random_uuid()],[gen_random_uuid()]], array[sha256('a'), sha256('b')]")) {
                assertThat(sqlCode(tx, "select postroom.accept('billing', " + call + ")"))
                        .isEqualTo("inbox.batch-invalid");
            }
            assertThat(sqlCode(tx, "select postroom.accept('billing', array[null::uuid], array[sha256('a')])"))
                    .isEqualTo("inbox.id-invalid");
            assertThat(sqlCode(tx, "select postroom.accept('billing', array[gen_random_uuid()], array[null::bytea])"))
                    .isEqualTo("inbox.hash-invalid");
        }
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isZero();
    }

    @Test
    void sqlAnswersAsJavaDoes() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("""
                        with ids as (select gen_random_uuid() as a, postroom.time_ordered_id() as b)
                        select postroom.accept('billing', array[a, b, a, b], array[sha256('1'), sha256('2'), sha256('3'), sha256('2')])
                        from ids""")) {
            row.next();
            assertThat((String[]) row.getArray(1).getArray())
                    .containsExactly("first", "first", "conflict", "duplicate");
        }
    }

    /** Whoever writes rows by hand cannot bring a message to another partition than its own. */
    @Test
    void theTableItselfRefusesAnotherDay() {
        assertThatThrownBy(() -> database.execute("insert into postroom.inbox (consumer, message_id, day, payload_hash)"
                        + " values ('billing', postroom.time_ordered_id(), current_date + 1, sha256('a'))"))
                .hasStackTraceContaining("inbox_day");
    }

    @Test
    void tellsHowManyOfEachThereWere() throws SQLException {
        Map<String, Long> heard = new TreeMap<>();
        Inbox watched = Postroom.builder(database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void received(String consumer, String outcome, long messages) {
                        heard.merge(consumer + " " + outcome, messages, Long::sum);
                    }
                })
                .build()
                .inbox();
        Received a = received("a");
        try (Connection tx = database.begin()) {
            watched.acceptAll(tx, "billing", List.of(a, a, received("b"), Received.of(a.id(), "z")));
        }
        assertThat(heard).isEqualTo(Map.of("billing first", 2L, "billing duplicate", 1L, "billing conflict", 1L));
    }

    @Test
    void aMessageHashesTheSameHoweverItCame() {
        var message = Messages.order("42", "{\"name\":\"Zoë\"}");
        assertThat(Received.of(message))
                .isEqualTo(Received.of(message.id(), "{\"name\":\"Zoë\"}".getBytes(StandardCharsets.UTF_8)))
                .isNotEqualTo(Received.of(message.id(), "{}"))
                .hasToString("message " + message.id());
    }

    private static Received received(String payload) {
        return Received.of(TimeOrderedId.next(), payload);
    }

    /** In a transaction of its own. */
    private static List<Acceptance> accept(Received... received) throws SQLException {
        try (Connection tx = database.begin()) {
            List<Acceptance> answers = inbox.acceptAll(tx, "billing", List.of(received));
            tx.commit();
            return answers;
        }
    }

    private static String code(Connection tx, String consumer, Received... received) {
        return catchThrowableOfType(PostroomException.class, () -> inbox.acceptAll(tx, consumer, List.of(received)))
                .code();
    }

    private static String codeInSql(Connection tx, String consumer, List<Received> received) throws SQLException {
        Savepoint before = tx.setSavepoint();
        try (PreparedStatement statement = tx.prepareStatement("select postroom.accept(?, ?, ?)")) {
            statement.setString(1, consumer);
            statement.setArray(
                    2,
                    tx.createArrayOf("uuid", received.stream().map(Received::id).toArray()));
            statement.setArray(
                    3,
                    tx.createArrayOf(
                            "bytea",
                            received.stream().map(Received::payloadHash).toArray(byte[][]::new)));
            return catchThrowableOfType(PSQLException.class, statement::execute)
                    .getServerErrorMessage()
                    .getDetail();
        } finally {
            tx.rollback(before);
        }
    }

    private static String sqlCode(Connection tx, String sql) throws SQLException {
        Savepoint before = tx.setSavepoint();
        try {
            return catchThrowableOfType(PSQLException.class, () -> execute(tx, sql))
                    .getServerErrorMessage()
                    .getDetail();
        } finally {
            tx.rollback(before);
        }
    }

    private static void execute(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void awaitWaiting(int sessions) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                        + " and wait_event_type = 'Lock'")
                < sessions) {
            assertThat(System.nanoTime()).as("nobody waits").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
