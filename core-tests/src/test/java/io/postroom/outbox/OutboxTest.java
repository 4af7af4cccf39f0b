package io.postroom.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.HeaderText;
import io.postroom.message.JacksonCodec;
import io.postroom.message.Message;
import io.postroom.postgres.DatabaseException;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutboxTest {
    static final SpanContext SPAN = SpanContext.create(
            "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", TraceFlags.getSampled(), TraceState.getDefault());
    static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    static TestDatabase database;
    static Outbox outbox;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        outbox = database.postroom().outbox();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void empty() {
        database.execute("truncate postroom.outbox");
    }

    @Test
    void refusesAutoCommitBecauseThereIsNoTransactionToJoin() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> outbox.publish(connection, Messages.sample()))
                    .isInstanceOf(PostroomException.class)
                    .hasMessageContaining("auto-commit is on")
                    .extracting("code")
                    .isEqualTo("outbox.no-transaction");
            assertThat(code(() -> outbox.publishAll(connection, List.of(Messages.sample()))))
                    .isEqualTo("outbox.no-transaction");
            assertThat(code(() -> outbox.publishAll(connection, List.of()))).isEqualTo("outbox.no-transaction");
        }
        assertThat(stored()).isZero();
    }

    @Test
    void refusesAReadOnlyConnectionAndAReadOnlyTransaction() throws SQLException {
        try (Connection tx = database.begin()) {
            tx.setReadOnly(true);
            assertThat(code(() -> outbox.publish(tx, Messages.sample()))).isEqualTo("outbox.read-only");
            assertThat(code(() -> outbox.publishAll(tx, List.of(Messages.sample()))))
                    .isEqualTo("outbox.read-only");
            tx.rollback();
        }
        try (Connection tx = database.begin()) {
            execute(tx, "set transaction read only");
            assertThat(code(() -> outbox.publish(tx, Messages.sample()))).isEqualTo("outbox.read-only");
            tx.rollback();
        }
        try (Connection tx = database.begin()) {
            execute(tx, "set local default_transaction_read_only = on");
            execute(tx, "set local transaction_read_only = on");
            assertThat(code(() -> outbox.publishAll(tx, List.of(Messages.sample()))))
                    .isEqualTo("outbox.read-only");
            tx.rollback();
        }
    }

    @Test
    void explainsAnAbortedTransaction() throws SQLException {
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> execute(tx, "select 1 / 0")).isInstanceOf(SQLException.class);
            for (PostroomException refusal : List.of(
                    catchThrowableOfType(PostroomException.class, () -> outbox.publish(tx, Messages.sample())),
                    catchThrowableOfType(
                            PostroomException.class, () -> outbox.publishAll(tx, List.of(Messages.sample()))))) {
                assertThat(refusal.code()).isEqualTo("outbox.transaction-aborted");
                assertThat(refusal)
                        .hasMessageContaining("earlier statement failed")
                        .hasMessageContaining("roll back");
            }
            tx.rollback();
        }
    }

    @Test
    void aRollbackLeavesNothing() throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, Messages.sample());
            outbox.publishAll(tx, Messages.sequence("a", 3));
            tx.rollback();
        }
        assertThat(stored()).isZero();
    }

    @Test
    void aRollbackToASavepointTakesOnlyWhatCameAfterIt() throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, Messages.order("kept"));
            Savepoint savepoint = tx.setSavepoint();
            outbox.publish(tx, Messages.order("gone"));
            outbox.publishAll(tx, Messages.ofManyKeys("gone", 3));
            tx.rollback(savepoint);
            outbox.publish(tx, Messages.order("kept too"));
            tx.commit();
        }
        assertThat(aggregateIds()).containsExactly("kept", "kept too");
    }

    @Test
    void aConnectionThatIsCutBeforeTheCommitLeavesNothing() throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, Messages.sample());
            database.execute("select pg_terminate_backend(" + queryInt(tx, "select pg_backend_pid()") + ")");
            assertThatThrownBy(tx::commit).isInstanceOf(SQLException.class);
        }
        assertThat(stored()).isZero();
    }

    @Test
    void onlyPreparesStatementsOnTheCallersConnection() throws SQLException {
        List<String> calls = new ArrayList<>();
        try (Connection tx = database.begin()) {
            Connection watched = (Connection) Proxy.newProxyInstance(
                    OutboxTest.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        calls.add(method.getName());
                        return method.invoke(tx, arguments);
                    });
            outbox.publish(watched, Messages.sample());
            outbox.publishAll(watched, Messages.sequence("a", 2));
            assertThat(calls)
                    .containsOnly("getAutoCommit", "isReadOnly", "prepareStatement", "unwrap")
                    .contains("prepareStatement");
            assertThat(stored()).as("not committed").isZero();
            assertThat(queryInt(tx, "select count(*) from postroom.outbox")).isEqualTo(3);
            assertThat(queryInt(tx, "select count(*) from pg_listening_channels()"))
                    .isZero();
            tx.commit();
        }
        assertThat(stored()).isEqualTo(3);
    }

    /** PostgreSQL refuses to prepare a transaction that has sent a notification. */
    @Test
    void aWriterSendsNoNotificationAndCanBePrepared() throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, Messages.sample());
            outbox.publishAll(tx, Messages.sequence("a", 2));
            execute(tx, "select postroom.publish('order', 'o1', 'OrderPlaced', '{}')");
            execute(tx, "prepare transaction 'silent'");
            assertThat(stored()).isZero();
            tx.commit();
        }
        database.execute("commit prepared 'silent'");
        assertThat(stored()).isEqualTo(4);
    }

    @Test
    void publishAllKeepsTheOrderAndReturnsTheIds() throws SQLException {
        List<Message> messages = new ArrayList<>(Messages.sequence("a", 500));
        messages.addAll(Messages.ofManyKeys("b", 500));
        try (Connection tx = database.begin()) {
            assertThat(outbox.publishAll(tx, messages))
                    .isEqualTo(messages.stream().map(Message::id).toList());
            tx.commit();
        }
        assertThat(strings("select id from postroom.outbox order by seq"))
                .isEqualTo(messages.stream()
                        .map(message -> message.id().toString())
                        .toList());
        assertThat(queryInt("select count(*) from postroom.outbox where xid <> (select min(xid) from postroom.outbox)"))
                .as("one transaction, one xid")
                .isZero();
    }

    @Test
    void takesTenThousandAtOnceAndRefusesOneMore() throws SQLException {
        List<Message> most = Messages.ofManyKeys("k", Outbox.BATCH_MAX);
        List<Message> tooMany = new ArrayList<>(most);
        tooMany.add(Messages.sample());
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> outbox.publishAll(tx, tooMany))
                    .hasMessageContaining("there are 10001, the limit is 10000")
                    .extracting("code")
                    .isEqualTo("outbox.batch-too-large");
            assertThat(outbox.publishAll(tx, most)).hasSize(10_000);
            tx.commit();
        }
        assertThat(stored()).isEqualTo(10_000);
    }

    @Test
    void refusesABatchThatWouldNotFitIntoMemory() throws SQLException {
        String payload = "\"" + "x".repeat(1_000_000) + "\"";
        List<Message> messages = IntStream.range(0, 68)
                .mapToObj(n -> Messages.order("o" + n, payload))
                .toList();
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> outbox.publishAll(tx, messages))
                    .hasMessageContaining("68000136 characters, the limit is 67108864")
                    .extracting("code")
                    .isEqualTo("outbox.batch-too-large");
            tx.rollback();
        }
    }

    @Test
    void anEmptyBatchIsNothingToDo() throws SQLException {
        try (Connection tx = database.begin()) {
            assertThat(outbox.publishAll(tx, List.of())).isEmpty();
        }
    }

    @Test
    void refusesAnIdTwiceInOneBatch() throws SQLException {
        Message message = Messages.sample();
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> outbox.publishAll(tx, List.of(message, Messages.sample(), message)))
                    .hasMessageContaining(message.id().toString())
                    .extracting("code")
                    .isEqualTo("outbox.id-repeated");
            assertThat(queryInt(tx, "select count(*) from postroom.outbox")).isZero();
        }
    }

    @Test
    void saysThatTheSchemaIsMissing() throws SQLException {
        try (TestDatabase bare = TestDatabase.empty(TestPostgres.shared())) {
            try (Connection tx = bare.begin()) {
                assertThatThrownBy(() -> outbox.publish(tx, Messages.sample()))
                        .hasMessageContaining("postroom schema migrate")
                        .extracting("code")
                        .isEqualTo("schema.missing");
            }
        }
    }

    @Test
    void aBrokenConnectionIsUnreachableNotInvalid() throws SQLException {
        try (Connection tx = database.begin()) {
            database.execute("select pg_terminate_backend(" + queryInt(tx, "select pg_backend_pid()") + ")");
            assertThatThrownBy(() -> outbox.publish(tx, Messages.sample()))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            e -> assertThat(e.isUnreachable()).isTrue());
        }
    }

    @Test
    void typedPayloadsGoThroughTheCodec() throws SQLException {
        record Placed(String customer, int total) {}

        JacksonCodec codec = new JacksonCodec();
        Message message = Message.about("order", "o1")
                .event("OrderPlaced")
                .payload(codec, new Placed("Zoë", 3))
                .build();
        try (Connection tx = database.begin()) {
            outbox.publish(tx, message);
            tx.commit();
        }
        assertThat(strings("select payload from postroom.outbox"))
                .containsExactly("{\"customer\":\"Zoë\",\"total\":3}");
        assertThat(message.payload(codec, Placed.class)).isEqualTo(new Placed("Zoë", 3));
    }

    @Test
    void takesTheTraceOfTheCurrentSpan() throws SQLException {
        publishWithin(SPAN, Messages.sample());
        assertThat(headers()).containsExactly(Map.of("traceparent", PARENT));
    }

    @Test
    void takesTheTraceStateToo() throws SQLException {
        TraceState state = TraceState.builder().put("b", "2").put("a", "1").build();
        publishWithin(
                SpanContext.create(SPAN.getTraceId(), SPAN.getSpanId(), TraceFlags.getDefault(), state),
                Messages.sample());
        assertThat(headers())
                .containsExactly(Map.of("traceparent", PARENT.replaceFirst("01$", "00"), "tracestate", "a=1,b=2"));
    }

    @Test
    void leavesATraceAloneThatTheCallerGave() throws SQLException {
        Message given = Message.about("order", "o1")
                .event("OrderPlaced")
                .payload("{}")
                .header("traceparent", "00-mine")
                .build();
        publishWithin(SPAN, given);
        assertThat(headers()).containsExactly(Map.of("traceparent", "00-mine"));
    }

    @Test
    @SuppressWarnings("try")
    void batchesAreTracedAndOtherHeadersKept() throws SQLException {
        Message one = Message.about("order", "o1")
                .event("E")
                .payload("{}")
                .header("a", "b")
                .build();
        try (Connection tx = database.begin();
                Scope ignored = Span.wrap(SPAN).makeCurrent()) {
            outbox.publishAll(tx, List.of(one, Messages.sample()));
            tx.commit();
        }
        assertThat(headers()).containsExactly(Map.of("a", "b", "traceparent", PARENT), Map.of("traceparent", PARENT));
    }

    @Test
    void aTraceNeverMakesAMessageFail() throws SQLException {
        Message.Builder full = Message.about("order", "o1").event("E").payload("{}");
        IntStream.range(0, 64).forEach(n -> full.header("h" + n, "v"));
        publishWithin(SPAN, full.build());
        assertThat(headers().get(0)).hasSize(65).containsEntry("traceparent", PARENT);
    }

    @Test
    void anInvalidSpanIsNoTrace() throws SQLException {
        publishWithin(SpanContext.getInvalid(), Messages.sample());
        assertThat(headers()).containsExactly(Map.of());
    }

    @Test
    void worksWithoutOpenTelemetryOnTheClassPath() throws ReflectiveOperationException, IOException, SQLException {
        URL[] without = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("opentelemetry"))
                .map(OutboxTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(without, ClassLoader.getPlatformClassLoader())) {
            assertThatThrownBy(() -> loader.loadClass("io.opentelemetry.api.trace.Span"))
                    .isInstanceOf(ClassNotFoundException.class);
            loader.loadClass(WithoutTelemetry.class.getName())
                    .getMethod("publish", String.class)
                    .invoke(null, database.url());
        }
        assertThat(stored()).isEqualTo(2);
        assertThat(headers()).containsExactly(Map.of(), Map.of());
    }

    /** Runs in a class loader of its own. */
    public static final class WithoutTelemetry {
        private WithoutTelemetry() {}

        public static void publish(String url) throws SQLException {
            org.postgresql.ds.PGSimpleDataSource dataSource = new org.postgresql.ds.PGSimpleDataSource();
            dataSource.setUrl(url);
            try (Connection tx = dataSource.getConnection()) {
                tx.setAutoCommit(false);
                Outbox outbox = Postroom.on(dataSource).outbox();
                outbox.publish(tx, Messages.sample());
                outbox.publishAll(tx, List.of(Messages.sample()));
                tx.commit();
            }
        }
    }

    @Test
    void tellsHowManyWerePublishedAndWakesTheRelay() throws SQLException {
        AtomicInteger counted = new AtomicInteger();
        AtomicInteger nudges = new AtomicInteger();
        Outbox told = new Outbox(
                database.postroom().database().schema(),
                new Telemetry() {
                    @Override
                    public void published(int messages) {
                        counted.addAndGet(messages);
                    }
                },
                nudges::incrementAndGet);
        try (Connection tx = database.begin()) {
            told.publish(tx, Messages.sample());
            told.publishAll(tx, Messages.sequence("a", 4));
            told.publishAll(tx, List.of());
            tx.rollback();
        }
        assertThat(counted).hasValue(5);
        assertThat(nudges).hasValue(2);
    }

    /** What Debezium's outbox event router expects: its columns, an id of its own per row, and inserts alone. */
    @Test
    void theTableIsInsertOnlyAndHasTheColumnsOfAnOutboxRouter() throws SQLException {
        assertThat(strings("""
                select attname || ' ' || format_type(coalesce(nullif(typbasetype, 0), atttypid), atttypmod)
                from pg_attribute join pg_type on pg_type.oid = atttypid
                where attrelid = 'postroom.outbox'::regclass and attnum > 0
                  and attname in ('id', 'aggregate_type', 'aggregate_id', 'event_type', 'payload', 'headers') order by attnum"""))
                .containsExactly(
                        "id uuid",
                        "aggregate_type text",
                        "aggregate_id text",
                        "event_type text",
                        "payload json",
                        "headers json");
        database.execute("select pg_stat_reset()");
        try (Connection tx = database.begin()) {
            outbox.publishAll(tx, Messages.sequence("a", 100));
            tx.commit();
        }
        try (var relay = database.postroom()
                .relay()
                .handle(io.postroom.relay.Subscription.named("insert-only").build(), envelope -> {})
                .build()) {
            assertThat(relay.runOnce()).isEqualTo(100);
        }
        database.execute("select pg_stat_force_next_flush()");
        assertThat(
                        queryInt(
                                "select coalesce(sum(n_tup_upd + n_tup_del), 0) from pg_stat_user_tables where relname like 'outbox%'"))
                .isZero();
        assertThat(queryInt("select count(*) from pg_trigger where tgrelid = 'postroom.outbox'::regclass"))
                .isZero();
    }

    @Test
    void aHandWrittenInsertWithOddHeadersStopsNoReader() throws SQLException {
        String columns =
                "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload, headers) values ";
        database.execute(columns
                + "(gen_random_uuid(), 'a', 'b', 'c', '{}', '{\"n\": 1, \"o\": {\"x\":[1]}, \"z\": null, \"s\": \"t\","
                + " \"postroom-payload-sha256\": \"no hash\", \"Postroom-Replay\": \"9\"}')");
        assertThatThrownBy(() -> database.execute(columns + "(gen_random_uuid(), 'a', 'b', 'c', '{}', '[1]')"))
                .hasStackTraceContaining("json_object");
        List<Message> seen = new ArrayList<>();
        try (var relay = database.postroom()
                .relay()
                .handle(io.postroom.relay.Subscription.named("odd").build(), envelope -> seen.add(envelope.message()))
                .build()) {
            relay.runOnce();
        }
        assertThat(seen)
                .last()
                .satisfies(message -> assertThat(message.headers())
                        .as("names of ours are not read: receivers would believe them")
                        .isEqualTo(Map.of("n", "1", "o", "{\"x\":[1]}", "z", "null", "s", "t")));
    }

    @SuppressWarnings("try")
    private static void publishWithin(SpanContext span, Message message) throws SQLException {
        try (Connection tx = database.begin();
                Scope ignored = Span.wrap(span).makeCurrent()) {
            outbox.publish(tx, message);
            tx.commit();
        }
    }

    private static List<Map<String, String>> headers() throws SQLException {
        return strings("select headers from postroom.outbox order by seq").stream()
                .map(HeaderText::read)
                .toList();
    }

    private static List<String> aggregateIds() throws SQLException {
        return strings("select aggregate_id from postroom.outbox order by seq");
    }

    private static String code(org.assertj.core.api.ThrowableAssert.ThrowingCallable publish) {
        PostroomException refusal = catchThrowableOfType(PostroomException.class, publish);
        assertThat(refusal).as("a refusal").isNotNull();
        return refusal.code();
    }

    private static long stored() {
        return database.queryLong("select count(*) from postroom.outbox");
    }

    private static long queryInt(String sql) {
        return database.queryLong(sql);
    }

    private static long queryInt(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void execute(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<String> strings(String sql) throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }

    private static URL url(String path) {
        try {
            return Path.of(path).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }
}
