package io.postroom.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.deadletter.Cause;
import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.JsonPatch;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.RedriveState;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.Upcasters;
import io.postroom.postgres.Schema;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Projection;
import io.postroom.retry.Fault;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of messages that a broker brings, without a broker. */
class ReceptionTest {
    private static final RetryPolicy THRICE = RetryPolicy.builder()
            .attemptsMax(3)
            .linear(Duration.ofMillis(1))
            .cap(Duration.ofMillis(1))
            .build();

    TestDatabase database;
    Postroom postroom;
    DeadLetters letters;
    /** What applying a message throws, by its aggregate id. */
    final Map<String, Exception> failing = new HashMap<>();

    final List<String> batches = new ArrayList<>();
    final List<Duration> pauses = new ArrayList<>();
    Projection projection = this::apply;
    Runnable onPause = () -> {};
    int handled;
    boolean goesOn = true;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
        letters = postroom.deadLetters();
        database.execute("create table applied (n bigserial, id uuid, aggregate text, payload text, attempt int)");
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aProcessThatFreezesWhileItTakesPartitionsLosesItsSession() throws SQLException {
        database.execute("insert into postroom.source_offset (consumer, partition, began_offset, next_offset)"
                + " values ('billing', 'orders/0', 0, 0)");
        try (Connection tx = database.begin()) {
            new OffsetTable(Schema.POSTROOM).hold(tx, "billing", List.of("orders/0"));
            try (Statement statement = tx.createStatement();
                    ResultSet row = statement.executeQuery("show idle_in_transaction_session_timeout")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("10s");
            }
        }
    }

    private void apply(Connection tx, List<Envelope> batch) throws Exception {
        batches.add(batch.size() + "");
        try (PreparedStatement insert =
                tx.prepareStatement("insert into applied (id, aggregate, payload, attempt) values (?, ?, ?, ?)")) {
            for (Envelope each : batch) {
                insert.setObject(1, each.message().id());
                insert.setString(2, each.message().aggregateId());
                insert.setString(3, each.message().payload());
                insert.setInt(4, each.attempt());
                insert.executeUpdate();
                Exception e = failing.get(each.message().aggregateId());
                if (e != null) {
                    throw e;
                }
            }
        }
    }

    private Reception reception() {
        return postroom.reception()
                .consumer("billing")
                .node("test")
                .retry(THRICE)
                .build(projection);
    }

    private Reception rereading(Function<Message, Arrival> reader) {
        return postroom.reception()
                .consumer("billing")
                .node("test")
                .retry(THRICE)
                .reader(reader)
                .build(projection);
    }

    private void receive(List<Message> messages) throws InterruptedException {
        List<Arrival> arrivals = new ArrayList<>();
        for (Message message : messages) {
            arrivals.add(new Arrival(
                    "orders/0@" + arrivals.size(), new Envelope(arrivals.size() + 1, message, 1), true, null));
        }
        receiveAll(arrivals);
    }

    private void receiveAll(List<Arrival> arrivals) throws InterruptedException {
        receive(reception(), arrivals);
    }

    private void receive(Reception reception, List<Arrival> arrivals) throws InterruptedException {
        reception.receive(arrivals, new Reception.Caller() {
            @Override
            public boolean goesOn() {
                return goesOn;
            }

            @Override
            public void pause(Duration time) {
                pauses.add(time);
                assertThat(pauses).as("it goes nowhere").hasSizeLessThan(500);
                onPause.run();
            }

            @Override
            public void handled(int more) {
                handled += more;
            }
        });
    }

    /** A caller that keeps account of orders/0, in which it was at an offset. */
    private Reception.Caller keeping(long from) {
        return new Reception.Caller() {
            long kept = from;

            @Override
            public boolean goesOn() {
                return goesOn;
            }

            @Override
            public void pause(Duration time) {
                pauses.add(time);
            }

            @Override
            public void handled(int more) {
                kept = mark(more).next();
                handled += more;
            }

            @Override
            public Mark mark(int arrivals) {
                return new Mark("orders/0", kept, from + handled + arrivals, 7L);
            }

            @Override
            public void overtaken(long next) {
                kept = next;
            }
        };
    }

    /** The same after a process that ended in the middle of so many messages. */
    private Reception.Caller suspecting(long from, int messages) {
        Reception.Caller caller = keeping(from);
        return new Reception.Caller() {
            @Override
            public boolean goesOn() {
                return goesOn;
            }

            @Override
            public void pause(Duration time) throws InterruptedException {
                caller.pause(time);
            }

            @Override
            public void handled(int more) {
                caller.handled(more);
            }

            @Override
            public Mark mark(int arrivals) {
                return caller.mark(arrivals);
            }

            @Override
            public int suspects() {
                return Math.max(0, messages - handled);
            }
        };
    }

    private List<Arrival> arrivals(List<Message> messages) {
        return messages.stream()
                .map(each -> new Arrival("orders/0@0", new Envelope(1, each, 1), false, null))
                .toList();
    }

    private long offset() {
        return database.queryLong("select next_offset from postroom.source_offset where partition = 'orders/0'");
    }

    @Test
    void howFarItIsIsKeptInTheTransactionOfTheEffectOrOfTheBurial() throws Exception {
        Reception reception = reception();
        reception.beginAt(List.of(new Progress("orders/0", null, 40, 40, null)));
        Message bad = Messages.order("bad");
        failing.put("bad", new OutcomeException(Outcome.rejected("no")));
        reception.receive(arrivals(List.of(Messages.order("a"), bad)), keeping(40));
        assertThat(handled).isEqualTo(2);
        assertThat(letters.list(DeadLetterFilter.ofOwner("billing"), null, 10)).hasSize(1);
        assertThat(reception.progress()).containsEntry("orders/0", new Progress("orders/0", null, 40, 42, 7L));

        projection = (tx, batch) -> {
            assertThat(offset()).as("not before the effect").isEqualTo(42);
            apply(tx, batch);
        };
        handled = 0;
        reception().receive(arrivals(List.of(Messages.order("b"))), keeping(42));
        assertThat(offset()).isEqualTo(43);
    }

    /** Its partition goes from one to the next after every attempt, as in rolling restarts. */
    @Test
    void attemptsAreCountedOnWhoeverHasThePartition() throws Exception {
        reception().beginAt(List.of(new Progress("orders/0", null, 0, 100, null)));
        Message bad = Messages.order("bad");
        failing.put("bad", new IllegalStateException("never"));
        for (int holder = 1; holder <= 3; holder++) {
            assertThat(letters.list(DeadLetterFilter.ofOwner("billing"), null, 10))
                    .isEmpty();
            goesOn = true;
            Reception reception = reception();
            reception.beginAt(List.copyOf(reception.progress().values()));
            Reception.Caller caller = keeping(100);
            reception.receive(arrivals(List.of(bad, Messages.order("a"))), new Reception.Caller() {
                @Override
                public boolean goesOn() {
                    return goesOn && handled == 0;
                }

                @Override
                public void pause(Duration time) {
                    goesOn = false;
                }

                @Override
                public void handled(int more) {
                    caller.handled(more);
                }

                @Override
                public Mark mark(int arrivals) {
                    return caller.mark(arrivals);
                }
            });
        }
        assertThat(letters.list(DeadLetterFilter.ofOwner("billing"), null, 10))
                .singleElement()
                .extracting("burial.attempts")
                .isEqualTo(3);
        assertThat(offset()).isEqualTo(101);
        assertThat(database.queryLong("select attempts from postroom.source_offset"))
                .as("of the next one")
                .isZero();
    }

    @Test
    void whatMayHaveEndedAProcessIsTriedAloneAndCountedBeforeIt() throws Exception {
        List<String> tried = new ArrayList<>();
        projection = (tx, batch) -> {
            tried.add(batch.size() + " with " + database.queryLong("select attempts from postroom.source_offset"));
            apply(tx, batch);
        };
        Reception reception = reception();
        reception.beginAt(List.of(new Progress("orders/0", null, 0, 100, null)));
        reception.receive(arrivals(Messages.sequence("a", 5)), suspecting(100, 2));
        assertThat(handled).isEqualTo(5);
        assertThat(tried).containsExactly("1 with 1", "1 with 1", "3 with 0");
        assertThat(database.queryLong("select attempts from postroom.source_offset"))
                .isZero();
    }

    @Test
    void aMessageThatEndedItsProcessAsOftenAsThePolicyAllowsIsBuried() throws Exception {
        Reception reception = reception();
        reception.beginAt(List.of(new Progress("orders/0", null, 0, 100, null)));
        assertThat(reception.hold(List.of("orders/0"))).as("nobody had it").isEmpty();
        assertThat(reception.hold(List.of("orders/0")))
                .as("it was not released")
                .containsExactly("orders/0");
        database.execute("update postroom.source_offset set attempts = 3");
        reception.receive(arrivals(List.of(Messages.order("bad"), Messages.order("a"))), suspecting(100, 2));
        assertThat(letters.list(DeadLetterFilter.ofOwner("billing"), null, 10))
                .singleElement()
                .satisfies(letter -> {
                    assertThat(letter.key().aggregateId()).isEqualTo("bad");
                    assertThat(letter.burial().cause()).isEqualTo(Cause.CRASHED);
                    assertThat(letter.burial().attempts()).isEqualTo(3);
                });
        assertThat(applied()).hasSize(1);
        assertThat(offset()).isEqualTo(102);
        reception.release(List.of("orders/0"));
        assertThat(reception.hold(List.of("orders/0"))).isEmpty();
    }

    /** A database that was restored, or a standby that lacks the last commits. */
    @Test
    void nothingTakesEffectOnADatabaseThatHasGoneBack() throws Exception {
        Reception reception = reception();
        reception.beginAt(List.of(new Progress("orders/0", null, 0, 100, null)));
        for (String change :
                List.of("update postroom.source_offset set next_offset = 90", "delete from postroom.source_offset")) {
            database.execute(change);
            assertThatThrownBy(() -> reception.receive(arrivals(List.of(Messages.order("a"))), keeping(100)))
                    .isInstanceOf(WentBackException.class)
                    .hasMessageContaining("orders/0 for consumer billing at offset 100");
            assertThatThrownBy(() -> reception.requireNotBack(Map.of("orders/0", 100L)))
                    .isInstanceOf(WentBackException.class);
        }
        assertThat(applied()).isEmpty();
        assertThat(handled).isZero();
    }

    /** A zombie has applied it and not committed yet when its heir gives it up: it is the operator's then, and takes no effect. */
    @Test
    void aMessageThatAnotherProcessHasGivenUpMeanwhileTakesNoEffect() throws Exception {
        Message message = Messages.order("a");
        projection = (tx, batch) -> {
            apply(tx, batch);
            database.execute("""
                    insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,
                        event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                    values ('kafka', 'billing', 4611686018427387905, 1, '%s', 'order', 'a', 'OrderConfirmed', 1, '{}', now(), 'rejected', 1,
                        'x', 'no', 'f00d', 'heir')""".formatted(message.id()), "update postroom.source_offset set next_offset = 101");
        };
        Reception reception = reception();
        reception.beginAt(List.of(new Progress("orders/0", null, 0, 100, null)));
        reception.receive(arrivals(List.of(message)), keeping(100));
        assertThat(handled).isOne();
        assertThat(applied()).isEmpty();
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isZero();
        assertThat(offset()).isEqualTo(101);
    }

    @Test
    void whatComesAgainTakesEffectOnceAndIsHandledEachTime() throws Exception {
        List<Message> messages = Messages.sequence("a", 10);
        List<Message> twice = new ArrayList<>(messages);
        twice.addAll(messages.subList(3, 7));
        receive(twice);
        receive(messages);
        assertThat(handled).isEqualTo(24);
        assertThat(applied())
                .isEqualTo(messages.stream().map(each -> each.id().toString()).toList());
        assertThat(batches)
                .as("one transaction for the first time, none for the second")
                .containsExactly("10");
    }

    @Test
    void theMessageAtFaultIsFoundTriedAgainAndBuriedWhileTheOthersTakeEffectInOrder() throws Exception {
        List<Message> messages = new ArrayList<>(Messages.ofManyKeys("k", 8));
        messages.add(5, Messages.order("bad", "{\"total\":13}"));
        failing.put("bad", new IllegalStateException("no such account"));
        receive(messages);
        assertThat(handled).isEqualTo(9);
        assertThat(strings("select aggregate from applied order by n"))
                .containsExactly("k-0", "k-1", "k-2", "k-3", "k-4", "k-5", "k-6", "k-7");
        assertThat(batches).as("halved down to one").startsWith("9", "4", "5", "2", "1", "2", "1");
        DeadLetter letter = onlyLetter();
        assertThat(letter.source()).isEqualTo("kafka");
        assertThat(letter.owner()).isEqualTo("billing");
        assertThat(letter.message().payload()).isEqualTo("{\"total\":13}");
        assertThat(letter.burial().attempts()).isEqualTo(3);
        assertThat(letter.burial().errorClass()).isEqualTo("java.lang.IllegalStateException");
        assertThat(letter.burial().buriedBy()).isEqualTo("test");
        assertThat(letter.history()).contains("\"attempt\": 1", "\"attempt\": 3", "no such account");
        assertThat(strings("select place from postroom.dead_letter")).containsExactly("orders/0@5");
        assertThat(pauses).hasSize(2);

        // It comes again: an operator has it.
        failing.clear();
        receive(List.of(messages.get(5)));
        assertThat(handled).isEqualTo(10);
        assertThat(database.queryLong("select count(*) from applied where aggregate = 'bad'"))
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isOne();
    }

    @Test
    void aRejectedMessageIsBuriedAtOnceAndAConflictIsRejected() throws Exception {
        failing.put("never", new OutcomeException(Outcome.rejected("closed account")));
        Message good = Messages.order("good");
        receive(List.of(Messages.order("never"), good));
        Message other = Message.about("order", "good")
                .id(good.id())
                .event("OrderConfirmed")
                .payload("{\"total\":1}")
                .build();
        receive(List.of(other));
        assertThat(
                        strings(
                                "select cause || ' ' || attempts || ' ' || split_part(error, ':', 1) from postroom.dead_letter order by id"))
                .containsExactly(
                        "rejected 1 closed account",
                        "rejected 1 message " + good.id() + " was accepted by consumer billing with another payload");
        assertThat(strings("select aggregate from applied")).containsExactly("good");
    }

    @Test
    void whatPostgresEndsBecauseOfOthersCostsNoAttempt() throws Exception {
        AtomicInteger times = new AtomicInteger();
        projection = (tx, batch) -> {
            if (times.incrementAndGet() <= 4) {
                try (Statement statement = tx.createStatement()) {
                    statement.execute("do $$ begin raise exception 'meanwhile' using errcode = '40001'; end $$");
                }
            }
            apply(tx, batch);
        };
        receive(Messages.ofManyKeys("k", 6));
        assertThat(batches).containsExactly("6");
        assertThat(strings("select distinct attempt from applied")).containsExactly("1");
        assertThat(pauses).hasSize(4);
    }

    /** A lock that is held for long, or no room: however often, and for every message behind it. */
    @Test
    void whatPostgresCannotDoForLongCostsNoAttemptEither() throws Exception {
        AtomicInteger times = new AtomicInteger();
        projection = (tx, batch) -> {
            if (times.incrementAndGet() <= 20) {
                try (Statement statement = tx.createStatement()) {
                    String state = times.get() % 2 == 0 ? "55P03" : "53100";
                    statement.execute("do $$ begin raise exception 'later' using errcode = '" + state + "'; end $$");
                }
            }
            apply(tx, batch);
        };
        receive(Messages.ofManyKeys("k", 3));
        assertThat(applied()).hasSize(3);
        assertThat(pauses).hasSize(20);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    @Test
    void aBatchThatPostgresEndsAgainAndAgainIsMadeSmallerAndNobodyIsBlamed() throws Exception {
        AtomicInteger times = new AtomicInteger();
        projection = (tx, batch) -> {
            if (batch.size() > 2 || times.incrementAndGet() <= 8) {
                try (Statement statement = tx.createStatement()) {
                    statement.execute("do $$ begin raise exception 'meanwhile' using errcode = '40P01'; end $$");
                }
            }
            apply(tx, batch);
        };
        receive(Messages.ofManyKeys("k", 8));
        assertThat(applied()).hasSize(8);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    /** A newer release writes it while this one still runs. */
    @Test
    void whatIsTooNewWaitsWithItsKeyForAProcessThatCanReadIt() throws Exception {
        Message newer = Message.about("order", "a")
                .event("OrderConfirmed")
                .eventVersion(2)
                .payload("{}")
                .build();
        Message later = Messages.order("a");
        postroom = Postroom.builder(database.dataSource())
                .upcasters(Upcasters.builder().newest("OrderConfirmed", 1).build())
                .build();
        onPause = () -> {
            if (pauses.size() == 3) {
                goesOn = false;
            }
        };
        receive(List.of(newer, later));
        assertThat(handled).isZero();
        assertThat(applied()).isEmpty();
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
        postroom = database.postroom();
        goesOn = true;
        receive(List.of(newer, later));
        assertThat(applied()).containsExactly(newer.id().toString(), later.id().toString());
    }

    /** Nothing but the projection itself could end it: it waits for something outside of PostgreSQL. */
    @Test
    void aProjectionThatHangsIsInterrupted() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger times = new AtomicInteger();
        projection = (tx, batch) -> {
            if (times.incrementAndGet() == 1) {
                hanging.countDown();
                never.await();
            }
            apply(tx, batch);
        };
        Reception reception = postroom.reception()
                .consumer("billing")
                .retry(THRICE)
                .deadline(Duration.ofMillis(300))
                .build(projection);
        Thread watch = new Thread(() -> {
            try {
                hanging.await();
                while (!Thread.currentThread().isInterrupted()) {
                    reception.watch();
                    LockSupport.parkNanos(10_000_000);
                }
            } catch (InterruptedException e) {
                // The test is over.
            }
        });
        watch.start();
        try {
            receive(reception, List.of(arrival(1, Messages.order("a"), null)));
        } finally {
            watch.interrupt();
            watch.join();
        }
        assertThat(strings("select attempt from applied")).containsExactly("2");
    }

    @Test
    void aDestinationThatIsAwayCostsNoAttemptAndTheMessageWaits() throws Exception {
        AtomicInteger times = new AtomicInteger();
        projection = (tx, batch) -> {
            if (times.incrementAndGet() <= 20) {
                throw new OutcomeException(Outcome.unavailable("maintenance"));
            }
            apply(tx, batch);
        };
        receive(List.of(Messages.order("a")));
        assertThat(strings("select attempt from applied")).containsExactly("1");
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    /** It is written by the projection, and found wanting only by the commit. */
    @Test
    void aConstraintThatFailsAtTheCommitIsTheMessagesFault() throws Exception {
        database.execute(
                "create table parent (id text primary key)",
                "create table child (id text references parent deferrable initially deferred)",
                "insert into parent values ('k-0'), ('k-1'), ('k-3')");
        projection = (tx, batch) -> {
            apply(tx, batch);
            for (Envelope each : batch) {
                try (PreparedStatement insert = tx.prepareStatement("insert into child values (?)")) {
                    insert.setString(1, each.message().aggregateId());
                    insert.executeUpdate();
                }
            }
        };
        receive(Messages.ofManyKeys("k", 4));
        assertThat(strings("select id from child")).containsExactly("k-0", "k-1", "k-3");
        assertThat(onlyLetter().message().aggregateId()).isEqualTo("k-2");
    }

    @Test
    void aProjectionCannotEndTheTransaction() throws Exception {
        projection = (tx, batch) -> {
            apply(tx, batch);
            tx.commit();
        };
        receive(List.of(Messages.order("a")));
        assertThat(applied()).isEmpty();
        assertThat(onlyLetter().burial().error()).contains("return to commit, throw to roll back");
    }

    @Test
    void nothingIsHandledOnceTheCallerWantsNoMore() throws Exception {
        projection = (tx, batch) -> {
            goesOn = false;
            throw new IllegalStateException("stop");
        };
        receive(Messages.ofManyKeys("k", 4));
        assertThat(handled).isZero();
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    @Test
    void whatIsNoMessageIsBuriedWholeAndBuriedAgainWhereNobodyReadsItOnceMore() throws Exception {
        buryRecord();
        assertThat(redrive(null).done()).isOne();
        assertThat(reception().redrive()).isTrue();
        assertThat(applied()).isEmpty();
        assertThat(strings("select error from postroom.dead_letter where resolution is null"))
                .singleElement()
                .asString()
                .contains("this process does not read it again");
    }

    @Test
    void whatIsNoMessageIsReadOnceMoreWhenItIsRedriven() throws Exception {
        Message held = buryRecord();
        Message message = Messages.order("read");
        List<Message> given = new ArrayList<>();
        redrive(JsonPatch.parse("[{\"op\":\"replace\",\"path\":\"/value\",\"value\":\"AAI=\"}]"));
        Reception reading = rereading(whole -> {
            given.add(whole);
            return new Arrival("orders/0@0", new Envelope(1, message, 1), false, null);
        });
        assertThat(reading.redrive()).isTrue();
        assertThat(reading.redrive()).isFalse();
        assertThat(given).extracting(Message::id).containsOnly(held.id());
        assertThat(given).extracting(Message::payload).containsOnly("{\"value\":\"AAI=\"}");
        receive(List.of(message));
        assertThat(applied())
                .as("once, however it comes")
                .containsExactly(message.id().toString());
        assertThat(strings("select resolution from postroom.dead_letter")).containsExactly("redriven");
    }

    /** It is a message by now, which the projection does not take: from here on it is a dead letter like any other. */
    @Test
    void whatCouldBeReadAndFailsIsBuriedAsTheMessageThatItIs() throws Exception {
        buryRecord();
        Message message = Messages.order("bad");
        failing.put("bad", new IllegalStateException("no"));
        redrive(null);
        Reception reading = rereading(whole -> new Arrival("orders/0@0", new Envelope(1, message, 1), false, null));
        while (database.queryLong("select count(*) from postroom.redriven_letter") > 0) {
            database.execute("update postroom.redriven_letter set due_at = now() - interval '1 second'");
            assertThat(reading.redrive()).isTrue();
        }
        assertThat(strings("select message_id || ' ' || aggregate_id || ' ' || place from postroom.dead_letter"
                        + " where resolution is null"))
                .containsExactly(message.id() + " bad orders/0@0");
        failing.clear();
        redrive(null);
        assertThat(reception().redrive()).as("without reading it once more").isTrue();
        assertThat(applied()).containsExactly(message.id().toString());
    }

    private Message buryRecord() throws Exception {
        Message record = Message.about("kafka.record", "orders/0@0")
                .event("kafka.record")
                .payload("{\"value\":\"AAE=\"}")
                .build();
        receiveAll(List.of(new Arrival(
                "orders/0@0", new Envelope(1, record, 1), false, Unreadable.fault("there is no header ce_id"))));
        assertThat(onlyLetter().burial().error()).isEqualTo("there is no header ce_id");
        return record;
    }

    @Test
    void aRedrivenDeadLetterTakesEffectOncePatchedIfTheOperatorSaysSo() throws Exception {
        Message bad = Messages.order("bad");
        failing.put("bad", new IllegalStateException("no"));
        receive(List.of(bad));
        failing.clear();
        assertThat(reception().redrive()).isFalse();
        redrive(JsonPatch.parse("[{\"op\":\"replace\",\"path\":\"/total\",\"value\":7}]"));
        assertThat(database.queryLong("select count(*) from postroom.redriven_letter"))
                .isOne();
        assertThat(reception().redrive()).isTrue();
        assertThat(reception().redrive()).isFalse();
        receive(List.of(bad));
        assertThat(strings("select payload from applied")).containsExactly("{\"total\":7}");
        assertThat(strings("select resolution from postroom.dead_letter"))
                .as("what it was before the operator changed it is not applied, nor given up again")
                .containsExactly("redriven");
    }

    @Test
    void aRedrivenDeadLetterThatFailsAgainIsANewOne() throws Exception {
        failing.put("bad", new IllegalStateException("no"));
        receive(List.of(Messages.order("bad")));
        redrive(null);
        for (int i = 0; i < 3; i++) {
            database.execute("update postroom.redriven_letter set due_at = now() - interval '1 s'");
            assertThat(reception().redrive()).isTrue();
        }
        assertThat(database.queryLong("select count(*) from postroom.redriven_letter"))
                .isZero();
        assertThat(
                        strings(
                                "select coalesce(resolution, 'open') || ' ' || attempts || ' ' || (origin is not null) from postroom.dead_letter order by id"))
                .containsExactly("redriven 3 false", "open 3 true");
    }

    /** Its effect is found wanting at the commit; others must not wait for it. */
    @Test
    void aRedrivenDeadLetterThatFailsAtTheCommitHoldsUpNoOther() throws Exception {
        failing.put("bad", new IllegalStateException("no"));
        failing.put("good", new IllegalStateException("no"));
        receive(List.of(Messages.order("bad"), Messages.order("good")));
        failing.clear();
        database.execute(
                "create table parent (id text primary key)",
                "create table child (id text references parent deferrable initially deferred)",
                "insert into parent values ('good')");
        projection = (tx, batch) -> {
            apply(tx, batch);
            try (PreparedStatement insert = tx.prepareStatement("insert into child values (?)")) {
                insert.setString(1, batch.get(0).message().aggregateId());
                insert.executeUpdate();
            }
        };
        redrive(null);
        for (int i = 0; i < 4; i++) {
            database.execute("update postroom.redriven_letter set due_at = now() - interval '1 s'");
            assertThat(reception().redrive()).isTrue();
        }
        assertThat(strings("select aggregate from applied")).containsExactly("good");
        assertThat(strings("select aggregate_id from postroom.dead_letter where resolution is null"))
                .containsExactly("bad");
        assertThat(database.queryLong("select count(*) from postroom.redriven_letter"))
                .isZero();
    }

    @Test
    void redrivenDeadLettersOfAKeyAreAppliedInTheirOrderWhoeverAppliesThem() throws Exception {
        List<Message> messages = new ArrayList<>(Messages.sequence("a", 3));
        messages.add(Messages.order("b"));
        failing.put("a", new IllegalStateException("no"));
        failing.put("b", new IllegalStateException("no"));
        receive(messages);
        failing.clear();
        redrive(null);
        try (Connection tx = database.begin()) {
            tx.createStatement()
                    .execute(
                            "select from postroom.redriven_letter where dead_letter = (select min(id) from postroom.dead_letter) for update");
            assertThat(reception().redrive()).isTrue();
            assertThat(reception().redrive())
                    .as("somebody has the first of them")
                    .isFalse();
            assertThat(strings("select aggregate from applied")).containsExactly("b");
        }
        database.execute("update postroom.redriven_letter set due_at = now() + interval '1 h'"
                + " where dead_letter = (select min(id) from postroom.dead_letter)");
        assertThat(reception().redrive()).as("the first is to be tried later").isFalse();
        database.execute("update postroom.redriven_letter set due_at = now() - interval '1 s'");
        while (reception().redrive()) {
            // One after the other.
        }
        assertThat(strings("select payload from applied where aggregate = 'a' order by n"))
                .containsExactly("{\"n\":0}", "{\"n\":1}", "{\"n\":2}");
    }

    /** Redrives all that are open and applies them, as often as they may be tried. */
    private void redriveAndApply() throws Exception {
        redrive(null);
        apply();
    }

    private void apply() {
        while (database.queryLong("select count(*) from postroom.redriven_letter") > 0) {
            database.execute("update postroom.redriven_letter set due_at = now() - interval '1 s'");
            assertThat(reception().redrive()).isTrue();
        }
    }

    /** Three of a key, of which the first was redriven and is the last that was buried. */
    private void buryTheFirstLast(List<Message> messages) throws Exception {
        failing.put("a", new OutcomeException(Outcome.rejected("no")));
        receive(messages);
        letters.redrives().run(request(RedriveRequest.redrive(DeadLetterFilter.ofIds(1L))), now -> {});
        apply();
        assertThat(strings("select payload from postroom.dead_letter where resolution is null order by id"))
                .containsExactly("{\"n\":1}", "{\"n\":2}", "{\"n\":0}");
        failing.clear();
    }

    private UUID request(RedriveRequest.Builder request) {
        return letters.redrives()
                .request(request.actor("ann").reason("test").build())
                .request()
                .id();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatWasBuriedAgainIsAppliedBeforeTheLaterOnesOfItsKey(boolean ofTheJournal) throws Exception {
        List<Message> messages = Messages.sequence("a", 3);
        if (ofTheJournal) {
            serveFromKafka();
            postroom.database().transact(tx -> postroom.outbox().publishAll(tx, messages));
            postroom.journal().stampAll();
        }
        buryTheFirstLast(messages);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter where position <= 3") > 0)
                .isEqualTo(ofTheJournal);
        redriveAndApply();
        assertThat(strings("select payload from applied order by n"))
                .containsExactly("{\"n\":0}", "{\"n\":1}", "{\"n\":2}");
    }

    @Test
    void whatWasBuriedAgainIsPutBackBeforeTheLaterOnesOfItsKey() throws Exception {
        buryTheFirstLast(Messages.sequence("a", 3));
        UUID id = request(
                RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")).canary(1));
        for (int step = 0; step < 3; step++) {
            letters.redrives().step(id);
            apply();
        }
        assertThat(strings("select payload from applied order by n"))
                .as("those that are put back one after the other")
                .startsWith("{\"n\":0}", "{\"n\":1}")
                .hasSize(3);
    }

    /** The first was no message when it came; by now it is the first of its key. */
    @Test
    void whatCouldBeReadSinceIsAppliedBeforeTheLaterOnesOfItsKey() throws Exception {
        buryRecord();
        List<Message> messages = Messages.sequence("a", 2);
        failing.put("a", new OutcomeException(Outcome.rejected("no")));
        receive(messages.subList(1, 2));
        letters.redrives().run(request(RedriveRequest.redrive(DeadLetterFilter.ofIds(1L))), now -> {});
        Reception reading =
                rereading(whole -> new Arrival("orders/0@0", new Envelope(1, messages.get(0), 1), false, null));
        assertThat(reading.redrive()).isTrue();
        failing.clear();
        redriveAndApply();
        assertThat(strings("select payload from applied order by n")).containsExactly("{\"n\":0}", "{\"n\":1}");
    }

    @Test
    void aCanaryThatCouldBeReadSinceAndFailedStopsTheRestWhateverBecameOfIt() throws Exception {
        buryRecord();
        failing.put("bad", new OutcomeException(Outcome.rejected("no")));
        receive(List.of(Messages.order("bad")));
        UUID id = request(
                RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")).canary(1));
        letters.redrives().step(id);
        Message read = Messages.order("bad");
        Reception reading = rereading(whole -> new Arrival("orders/0@0", new Envelope(1, read, 1), false, null));
        assertThat(reading.redrive()).isTrue();
        letters.redrives().run(request(RedriveRequest.discard(DeadLetterFilter.ofIds(3L))), now -> {});
        Redrive stopped = letters.redrives().step(id).redrive();
        assertThat(stopped.state()).isEqualTo(RedriveState.STOPPED);
        assertThat(stopped.note()).startsWith("1 of the first 1 failed again, first dead letter 3: ");
    }

    /** A move makes the open dead letters those of the subscription; what is resolved stays as it was. */
    @Test
    void aCanaryThatFailedBeforeItsSubscriptionWasMovedStopsTheRest() throws Exception {
        serveFromKafka();
        List<Message> messages = Messages.ofManyKeys("bad", 2);
        postroom.database().transact(tx -> postroom.outbox().publishAll(tx, messages));
        postroom.journal().stampAll();
        messages.forEach(each -> failing.put(each.aggregateId(), new OutcomeException(Outcome.rejected("no"))));
        receive(messages);
        UUID id = request(
                RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")).canary(1));
        letters.redrives().step(id);
        assertThat(reception().redrive()).isTrue();
        MoveTable moves = new MoveTable(Schema.POSTROOM);
        postroom.database().transact(tx -> moves.adoptLetters(tx, "billing", Reception.KAFKA, "subscription"));
        assertThat(letters.redrives().step(id).redrive().state()).isEqualTo(RedriveState.STOPPED);
    }

    /** Its source was told to begin anew, and gave up on another copy while the first one was on its way. */
    @Test
    void aCanaryThatFailedWhereAnotherCopyWasBuriedStopsTheRestWhateverBecameOfIt() throws Exception {
        Message bad = Messages.order("bad");
        failing.put("bad", new OutcomeException(Outcome.rejected("no")));
        receive(List.of(bad, Messages.order("bad")));
        UUID id = request(
                RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")).canary(1));
        letters.redrives().step(id);
        receive(List.of(bad));
        assertThat(reception().redrive()).isTrue();
        assertThat(strings("select origin from postroom.dead_letter where id = 3"))
                .containsExactly("1");
        letters.redrives().run(request(RedriveRequest.discard(DeadLetterFilter.ofIds(3L))), now -> {});
        assertThat(letters.redrives().step(id).redrive().state()).isEqualTo(RedriveState.STOPPED);
    }

    /** Another database writes to the same topic, and counts as it likes. */
    @Test
    void aForeignSequenceIsNoPositionOfOurJournal() throws Exception {
        serveFromKafka();
        Message ours = Messages.order("ours");
        try (Connection tx = database.begin()) {
            postroom.outbox().publish(tx, ours);
            tx.commit();
        }
        postroom.journal().stampAll();
        failing.put("ours", new OutcomeException(Outcome.rejected("no")));
        failing.put("theirs", new OutcomeException(Outcome.rejected("no")));
        receiveAll(List.of(
                arrival(1, Messages.order("theirs"), null),
                arrival(1, ours, null),
                arrival(1, Messages.order("theirs"), null)));
        assertThat(strings("select aggregate_id || ' ' || (position = 1) from postroom.dead_letter order by id"))
                .containsExactly("theirs false", "ours true", "theirs false");
    }

    @Test
    void nothingIsAppliedWhileSomebodyElseServesTheSubscription() throws Exception {
        database.execute("insert into postroom.subscription (name, lanes) values ('billing', 1)");
        assertThat(isServed("billing", "orders")).isFalse();
        assertThatThrownBy(() -> receive(List.of(Messages.order("a"))))
                .isInstanceOf(NotServedException.class)
                .hasMessageContaining("served by postgres");
        assertThatThrownBy(() -> reception().redrive()).isInstanceOf(NotServedException.class);
        assertThat(handled).isZero();
        database.execute("update postroom.subscription set served_by = 'kafka'");
        assertThat(isServed("billing", "orders")).isTrue();
        failing.put("bad", new OutcomeException(Outcome.rejected("no")));
        receive(List.of(Messages.order("a"), Messages.order("bad")));
        assertThat(applied()).hasSize(1);
        assertThat(onlyLetter().message().aggregateId()).isEqualTo("bad");
    }

    private boolean isServed(String group, String... topics) {
        return reception().isServed(group, List.of(topics));
    }

    /** Topics hold more than one subscription may want; relays would not have brought it. */
    @Test
    void whatTheSubscriptionDoesNotWantIsHandledAndDoesNotTakeEffect() throws Exception {
        database.execute(
                "insert into postroom.subscription (name, lanes, served_by, aggregate_types, event_types, tenants)"
                        + " values ('billing', 1, 'kafka', '{order}', '{Placed,Paid}', '{acme}')");
        Message wanted = message("order", "Paid", "acme");
        Message strange = message("order", "Placed", "acme");
        receiveAll(List.of(
                arrival(1, message("basket", "Paid", "acme"), null),
                arrival(2, message("order", "Packed", "acme"), null),
                arrival(3, message("order", "Paid", "other"), null),
                arrival(4, message("order", "Paid", null), null),
                arrival(5, wanted, null),
                arrival(6, strange, Unreadable.fault("there is no header ce_id"))));
        assertThat(handled).isEqualTo(6);
        assertThat(applied()).containsExactly(wanted.id().toString());
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isOne();
        assertThat(onlyLetter().message().id()).isEqualTo(strange.id());
    }

    private static Message message(String aggregateType, String event, @Nullable String tenant) {
        Message.Builder message =
                Message.about(aggregateType, aggregateType).event(event).payload("{}");
        return tenant == null ? message.build() : message.tenantId(tenant).build();
    }

    private static Arrival arrival(long position, Message message, @Nullable Fault unreadable) {
        return new Arrival("orders/0@" + position, new Envelope(position, message, 1), true, unreadable);
    }

    @Test
    void nothingIsAppliedWhileItsSubscriptionIsPausedAndNothingIsLost() throws Exception {
        serveFromKafka();
        postroom.subscriptions().pause("billing", new Act("ann", "upgrade"));
        onPause = () -> {
            if (pauses.size() == 3) {
                assertThat(batches).isEmpty();
                postroom.subscriptions().resume("billing", new Act("ann", "done"));
            }
        };
        receive(List.of(Messages.order("a")));
        assertThat(pauses).hasSize(3);
        assertThat(applied()).hasSize(1);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    /** Relays that are started write into the same row. */
    @Test
    void operatorsAndRelaysDoNotWaitForATransactionOfASource() throws Exception {
        serveFromKafka();
        projection = (tx, batch) -> {
            apply(tx, batch);
            database.execute(
                    "set lock_timeout = '2s'",
                    "update postroom.subscription set retry = 'slow', paused_at = null where name = 'billing'",
                    "select from postroom.subscription where name = 'billing' for no key update",
                    "set lock_timeout = 0");
        };
        receive(List.of(Messages.order("a")));
        assertThat(applied()).hasSize(1);
    }

    @Test
    void aSourceThatWasNotMovedToIsRefused() {
        serveFromKafka();
        database.execute(
                "insert into postroom.subscription_move (subscription, target, feed, topics, group_id, position, offsets,"
                        + " overlap_since, actor, reason, ended_at, outcome) values ('billing', 'kafka', 'feed', '{a,b}', 'billing',"
                        + " 1, '{}', now(), 'ann', 'x', now(), 'done')");
        assertThat(isServed("billing", "b", "a")).isTrue();
        for (List<String> other :
                List.of(List.of("billings", "a", "b"), List.of("billing", "a"), List.of("billing", "a", "b", "c"))) {
            assertThatThrownBy(() -> reception().isServed(other.get(0), other.subList(1, other.size())))
                    .hasMessageContaining("was moved to Kafka for group billing and topics [a, b]")
                    .extracting("code")
                    .isEqualTo("source.other-group");
        }
        database.execute("update postroom.subscription set served_by = 'postgres'");
        assertThat(isServed("billings", "a")).isFalse();
    }

    private void serveFromKafka() {
        database.execute("insert into postroom.subscription (name, lanes, served_by) values ('billing', 1, 'kafka')");
    }

    @Test
    void refusesAProjectionThatIsBehindAnInboxAlready() {
        assertThatThrownBy(() -> postroom.reception()
                        .consumer("Billing")
                        .batchMax(0)
                        .build(projection.behind(postroom.inbox(), "billing")))
                .hasMessageContaining("consumer is 'Billing'")
                .hasMessageContaining("batch is 0")
                .hasMessageContaining("behind an inbox already")
                .extracting("code")
                .isEqualTo("source.invalid");
    }

    private Redrive redrive(JsonPatch patch) throws InterruptedException {
        RedriveRequest.Builder request = RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing"))
                .actor("ann")
                .reason("test");
        UUID id = letters.redrives()
                .request(patch == null ? request.build() : request.patch(patch).build())
                .request()
                .id();
        return letters.redrives().run(id, now -> {});
    }

    private DeadLetter onlyLetter() {
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isOne();
        return letters.get(database.queryLong("select id from postroom.dead_letter"))
                .orElseThrow();
    }

    private List<String> applied() throws SQLException {
        return strings("select id from applied order by n");
    }

    private List<String> strings(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }
}
