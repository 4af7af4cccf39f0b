package io.postroom.deadletter;

import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Subscriptions, messages and dead letters in a database of their own, made as relays make them but by plain SQL. */
final class Graveyard implements AutoCloseable {
    final TestDatabase database = TestDatabase.create();
    final DeadLetters letters = database.postroom().deadLetters();
    final Redrives redrives = letters.redrives();

    /** As if nothing had happened in this database. */
    Graveyard clear() {
        database.execute("""
                truncate postroom.outbox, postroom.journal, postroom.generation, postroom.subscription, postroom.settlement, postroom.lane, postroom.delivery,
                    postroom.circuit, postroom.dead_letter, postroom.redrive, postroom.audit restart identity cascade""", "delete from postroom.tick where position > 0");
        return this;
    }

    Graveyard subscribe(String name, int lanes) {
        database.execute(
                "insert into postroom.subscription (name, lanes) values ('%s', %d)".formatted(name, lanes),
                """
                insert into postroom.lane (subscription, lane, position)
                select '%s', lane, 0 from generate_series(0, %d) as lane""".formatted(name, lanes - 1));
        return this;
    }

    /** A subscription whose dead letters hold their keys. */
    Graveyard subscribeHolding(String name, int lanes) {
        subscribe(name, lanes);
        database.execute("update postroom.subscription set on_burial = 'hold' where name = '" + name + "'");
        return this;
    }

    /** Publishes and stamps; returns the last position. */
    long publish(List<Message> messages) {
        database.postroom()
                .database()
                .transact(tx -> database.postroom().outbox().publishAll(tx, messages));
        database.postroom().journal().stampAll();
        return one("select max(position) from postroom.journal");
    }

    /** One message for each of so many orders, quickly. Returns the last position. */
    long publishMany(String prefix, int count) {
        database.execute("""
                insert into postroom.outbox (id, tenant_id, aggregate_type, aggregate_id, event_type, payload)
                select gen_random_uuid(), 'acme', 'order', '%s-' || n, 'OrderPlaced', json_build_object('n', n)
                from generate_series(1, %d) as n""".formatted(prefix, count));
        database.postroom().journal().stampAll();
        return one("select max(position) from postroom.journal");
    }

    /** Everything up to here has been delivered, or has a delivery or dead letter. */
    void settle(String subscription, long position) {
        database.execute(
                "update postroom.lane set position = " + position + " where subscription = '" + subscription + "'");
    }

    /** Buries the messages whose outbox row fits, in the order of the journal. */
    void bury(String subscription, String where) {
        bury(subscription, where, "java.lang.IllegalStateException", "no such customer", "f00d");
    }

    void bury(String subscription, String where, String errorClass, String error, String fingerprint) {
        database.execute("""
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type,
                    aggregate_id, aggregate_version, event_type, event_version, payload, headers, occurred_at, cause, attempts,
                    error_class, error, fingerprint, history, buried_by)
                select 'subscription', '%1$s', j.position, j.key_hash, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id,
                    o.aggregate_version, o.event_type, o.event_version, o.payload, o.headers, o.occurred_at, 'exhausted', 5,
                    '%3$s', '%4$s', '%5$s', '[{"attempt":5,"node":"node-1"}]', 'node-1'
                from postroom.journal as j join postroom.outbox as o on o.seq = j.seq and o.day = j.outbox_day
                where %2$s
                order by j.position""".formatted(subscription, where, errorClass, error, fingerprint));
    }

    /** Lets the open dead letters of a subscription hold their keys. */
    void hold(String subscription) {
        database.execute("""
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state,
                    attempts, error_class, error, fingerprint)
                select d.owner, d.position, d.key_hash %% s.lanes, d.key_hash, j.seq, j.outbox_day, j.bytes, d.id, 'held', 5,
                    d.error_class, d.error, d.fingerprint
                from postroom.dead_letter as d
                join postroom.subscription as s on s.name = d.owner
                join postroom.journal as j on j.position = d.position
                where d.owner = '%s' and d.resolution is null""".formatted(subscription));
    }

    /** Gives messages a delivery in some state, as a relay would. */
    void deliver(String subscription, String state, String where) {
        database.execute("""
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at,
                    attempts, sending_since, sending_by)
                select '%1$s', j.position, j.key_hash %% s.lanes, j.key_hash, j.seq, j.outbox_day, j.bytes, '%2$s',
                    case when '%2$s' in ('waiting', 'scheduled') then now() + interval '1 hour' end, 1,
                    case when '%2$s' = 'sending' then now() end, case when '%2$s' = 'sending' then 'node-1' end
                from postroom.journal as j
                join postroom.outbox as o on o.seq = j.seq and o.day = j.outbox_day
                join postroom.subscription as s on s.name = '%1$s'
                where %3$s""".formatted(subscription, state, where));
    }

    /** What a relay does with everything that is due: takes it off. */
    void accept(String subscription) {
        database.execute("delete from postroom.delivery where subscription = '" + subscription
                + "' and state = 'waiting' and due_at <= clock_timestamp()");
    }

    /** A redrive of everything of a subscription. */
    RedriveRequest.Builder redriveOf(String subscription) {
        return RedriveRequest.redrive(DeadLetterFilter.ofOwner(subscription))
                .actor("anna")
                .reason("the customer is there now");
    }

    RedriveRequest.Builder discardOf(String subscription) {
        return RedriveRequest.discard(DeadLetterFilter.ofOwner(subscription))
                .actor("bert")
                .reason("nobody wants them");
    }

    /** Steps until it ends or has to wait. */
    Redrive stepToEnd(UUID id) {
        RedriveStep step = redrives.step(id);
        while (!step.redrive().isEnded() && step.letters() > 0) {
            step = redrives.step(id);
        }
        return step.redrive();
    }

    long one(String sql) {
        return database.queryLong(sql);
    }

    long count(String table, String where) {
        return one("select count(*) from postroom." + table + " where " + where);
    }

    /** The first column of every row. */
    List<String> texts(String sql) {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> texts = new ArrayList<>();
            while (rows.next()) {
                texts.add(rows.getString(1));
            }
            return texts;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        database.close();
    }
}
