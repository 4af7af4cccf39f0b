package io.postroom.relay;

import io.postroom.delivery.Promotion;
import io.postroom.journal.Journal;
import io.postroom.message.Message;
import io.postroom.outbox.MessageRow;
import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Deliveries, attempts and burials as a lane sees them: one method per statement, no decisions. */
final class DeliveryTable {
    private final Sql rescue;
    private final Sql reread;
    private final Sql blockedKeys;
    private final Sql stillBlocked;
    private final Sql knownBeyond;
    private final Sql beginSending;
    private final Sql claim;
    private final Sql claimSuspects;
    private final Sql markAlone;
    private final Sql unclaim;
    private final Sql nextDue;
    private final Sql accept;
    private final Sql keep;
    private final Sql noteAttempts;
    private final Sql bury;
    private final Sql buryAgain;
    private final Sql hold;
    private final Sql parkBehind;
    private final Promotion promotion;
    private final Sql readRedriven;

    DeliveryTable(Schema schema) {
        rescue = schema.sql(DeliveryTable.class, "rescue.sql");
        reread = schema.sql(DeliveryTable.class, "reread.sql");
        blockedKeys = schema.sql(DeliveryTable.class, "blocked_keys.sql");
        stillBlocked = schema.sql(DeliveryTable.class, "still_blocked.sql");
        knownBeyond = schema.sql(DeliveryTable.class, "known_beyond.sql");
        beginSending = schema.sql(DeliveryTable.class, "begin_sending.sql");
        claim = schema.sql(DeliveryTable.class, "claim.sql");
        claimSuspects = schema.sql(DeliveryTable.class, "claim_suspects.sql");
        markAlone = schema.sql(DeliveryTable.class, "mark_alone.sql");
        unclaim = schema.sql(DeliveryTable.class, "unclaim.sql");
        nextDue = schema.sql(DeliveryTable.class, "next_due.sql");
        accept = schema.sql(DeliveryTable.class, "accept.sql");
        keep = schema.sql(DeliveryTable.class, "keep.sql");
        noteAttempts = schema.sql(DeliveryTable.class, "note_attempts.sql");
        bury = schema.sql(DeliveryTable.class, "bury.sql");
        buryAgain = schema.sql(DeliveryTable.class, "bury_again.sql");
        hold = schema.sql(DeliveryTable.class, "hold.sql");
        parkBehind = schema.sql(DeliveryTable.class, "park_behind.sql");
        promotion = new Promotion(schema);
        readRedriven = schema.sql(DeliveryTable.class, "read_redriven.sql");
    }

    /**
     * A delivery, as claimed or rescued.
     *
     * @param alone whether nothing else is to be on its way while it is sent, or was
     */
    record Row(
            Slot.Id id,
            Slot.Past past,
            boolean scheduled,
            boolean alone,
            @Nullable Long replayTo) {}

    /** A delivery whose relay ended during an attempt, which relay that was, and for how long it had been trying. */
    record Rescued(Row row, String node, Duration took) {
        boolean alone() {
            return row.alone();
        }
    }

    List<Rescued> rescue(Connection tx, RelayTable.Held lane) {
        return of(rescue, tx, lane)
                .list(row ->
                        new Rescued(row(row), row.getString(11), Duration.ofNanos((long) (row.getDouble(12) * 1e9))));
    }

    List<Integer> reread(Connection tx, RelayTable.Held lane) {
        return of(reread, tx, lane).list(row -> row.getInt(1));
    }

    List<Integer> blockedKeys(Connection tx, RelayTable.Held lane) {
        return of(blockedKeys, tx, lane).list(row -> row.getInt(1));
    }

    List<Integer> stillBlocked(Connection tx, String subscription, Collection<Integer> keys) {
        return stillBlocked
                .on(tx)
                .set("subscription", subscription)
                .set("keys", keys.toArray(Integer[]::new))
                .list(row -> row.getInt(1));
    }

    List<Long> knownBeyond(Connection tx, RelayTable.Held lane, long position, RelayTable.Plan plan) {
        Long resumeAt = plan.resumeAt();
        return of(knownBeyond, tx, lane)
                .set("position", position)
                .set("lanes", plan.lanes())
                .set("resume_at", resumeAt == null ? 0L : resumeAt)
                .list(row -> row.getLong(1));
    }

    void beginSending(Connection tx, RelayTable.Held lane, String node, List<Slot> slots) {
        places(of(beginSending, tx, lane), slots.stream().map(Slot::id).toList())
                .set("node", node)
                .set("attempts", array(slots, Slot::attempt, Integer[]::new))
                .update();
    }

    /**
     * How far deliveries may be claimed.
     *
     * @param former how far the lanes were that there were before
     * @param lettersUpTo how far those that were redriven may
     */
    record Reach(long upTo, List<Long> former, long lettersUpTo) {
        private Call set(Call call) {
            return call.set("up_to", upTo)
                    .set("former", former.toArray(Long[]::new))
                    .set("letters_up_to", lettersUpTo);
        }
    }

    List<Row> claim(Connection tx, RelayTable.Held lane, String node, Reach reach, int limit, long bytesMax) {
        return reach.set(of(claim, tx, lane))
                .set("node", node)
                .set("limit", limit)
                .set("bytes_max", bytesMax)
                .list(DeliveryTable::row);
    }

    List<Row> claimSuspects(Connection tx, RelayTable.Held lane, String node, Reach reach) {
        return reach.set(of(claimSuspects, tx, lane)).set("node", node).list(DeliveryTable::row);
    }

    void markAlone(Connection tx, String subscription, long position) {
        markAlone
                .on(tx)
                .set("subscription", subscription)
                .set("position", position)
                .update();
    }

    /** Returns the keys of what was taken back. */
    Set<Integer> unclaim(Connection tx, RelayTable.Held lane, Collection<Long> inHand) {
        return new HashSet<>(of(unclaim, tx, lane)
                .set("in_hand", inHand.toArray(Long[]::new))
                .list(row -> row.getInt(1)));
    }

    /** How long until a delivery is due; not positive if one is. */
    Optional<Duration> nextDue(Connection tx, RelayTable.Held lane) {
        return of(nextDue, tx, lane).first(row -> Duration.ofNanos((long) (row.getDouble(1) * 1e9)));
    }

    void accept(Connection tx, String subscription, Collection<Long> positions) {
        accept.on(tx)
                .set("subscription", subscription)
                .set("positions", positions.toArray(Long[]::new))
                .update();
    }

    void keep(Connection tx, RelayTable.Held lane, List<LaneRecord.Kept> kept) {
        places(of(keep, tx, lane), kept.stream().map(LaneRecord.Kept::id).toList())
                .set("dead_letters", array(kept, each -> each.id().deadLetter(), Long[]::new))
                .set("states", array(kept, each -> each.state().word(), String[]::new))
                .set("waits", array(kept, each -> micros(each.after()), Long[]::new))
                .set("due_ats", array(kept, each -> orNull(each.dueAt(), Instant::toString), String[]::new))
                .set("attempts", array(kept, LaneRecord.Kept::attempts, Integer[]::new))
                .set("error_classes", array(kept, each -> orNull(each.fault(), Fault::errorClass), String[]::new))
                .set("errors", array(kept, each -> orNull(each.fault(), Fault::message), String[]::new))
                .set("fingerprints", array(kept, each -> orNull(each.fault(), Fault::fingerprint), String[]::new))
                .update();
    }

    void noteAttempts(Connection tx, String subscription, List<LaneRecord.Tried> tried) {
        noteAttempts
                .on(tx)
                .set("subscription", subscription)
                .set("positions", array(tried, LaneRecord.Tried::position, Long[]::new))
                .set("attempts", array(tried, LaneRecord.Tried::attempt, Integer[]::new))
                .set("durations", array(tried, each -> micros(each.took()), Long[]::new))
                .set("nodes", array(tried, LaneRecord.Tried::node, String[]::new))
                .set("outcomes", array(tried, LaneRecord.Tried::outcome, String[]::new))
                .set("error_classes", array(tried, each -> orNull(each.fault(), Fault::errorClass), String[]::new))
                .set("errors", array(tried, each -> orNull(each.fault(), Fault::message), String[]::new))
                .set("fingerprints", array(tried, each -> orNull(each.fault(), Fault::fingerprint), String[]::new))
                .update();
    }

    /** Buries messages that lie in the outbox; returns the dead letters by position. */
    Map<Long, Long> bury(Connection tx, String subscription, String node, List<LaneRecord.Buried> buried) {
        List<Slot.Id> ids = buried.stream().map(LaneRecord.Buried::id).toList();
        return letters(burial(bury, tx, subscription, node, buried)
                .set("key_hashes", array(ids, Slot.Id::keyHash, Integer[]::new))
                .set("seqs", array(ids, id -> id.place().seq(), Long[]::new))
                .set("outbox_days", array(ids, id -> id.place().day().toString(), String[]::new)));
    }

    /** Buries messages that were redriven; returns the dead letters by position. */
    Map<Long, Long> buryAgain(Connection tx, String subscription, String node, List<LaneRecord.Buried> buried) {
        return letters(burial(buryAgain, tx, subscription, node, buried)
                .set("origins", array(buried, each -> each.id().deadLetter(), Long[]::new)));
    }

    void hold(Connection tx, RelayTable.Held lane, List<LaneRecord.Buried> buried, Map<Long, Long> letters) {
        places(of(hold, tx, lane), buried.stream().map(LaneRecord.Buried::id).toList())
                .set("dead_letters", array(buried, each -> letters.get(each.id().position()), Long[]::new))
                .set("attempts", array(buried, LaneRecord.Buried::attempts, Integer[]::new))
                .update();
    }

    void parkBehind(Connection tx, String subscription, Collection<Integer> keys) {
        parkBehind
                .on(tx)
                .set("subscription", subscription)
                .set("keys", keys.toArray(Integer[]::new))
                .update();
    }

    int promote(Connection tx, String subscription, Collection<Integer> keys) {
        return promotion.promote(tx, subscription, keys);
    }

    /** Messages by dead letter, as the operator wants them sent. */
    Map<Long, Message> readRedriven(Connection tx, Collection<Long> ids) {
        Map<Long, Message> messages = new HashMap<>();
        readRedriven
                .on(tx)
                .set("ids", ids.toArray(Long[]::new))
                .list(row -> messages.put(row.getLong(1), MessageRow.read(row, 2)));
        return messages;
    }

    private static Call of(Sql sql, Connection tx, RelayTable.Held lane) {
        return sql.on(tx).set("subscription", lane.subscription()).set("lane", lane.lane());
    }

    private static Call places(Call call, List<Slot.Id> ids) {
        return call.set("positions", array(ids, Slot.Id::position, Long[]::new))
                .set("key_hashes", array(ids, Slot.Id::keyHash, Integer[]::new))
                .set("seqs", array(ids, id -> id.place().seq(), Long[]::new))
                .set("outbox_days", array(ids, id -> id.place().day().toString(), String[]::new))
                .set("bytes", array(ids, Slot.Id::bytes, Integer[]::new));
    }

    private static Call burial(
            Sql sql, Connection tx, String subscription, String node, List<LaneRecord.Buried> buried) {
        return sql.on(tx)
                .set("subscription", subscription)
                .set("node", node)
                .set("positions", array(buried, each -> each.id().position(), Long[]::new))
                .set("causes", array(buried, each -> each.cause().word(), String[]::new))
                .set("attempts", array(buried, LaneRecord.Buried::attempts, Integer[]::new))
                .set("error_classes", array(buried, each -> each.fault().errorClass(), String[]::new))
                .set("errors", array(buried, each -> each.fault().message(), String[]::new))
                .set("fingerprints", array(buried, each -> each.fault().fingerprint(), String[]::new));
    }

    private static Map<Long, Long> letters(Call call) {
        Map<Long, Long> letters = new HashMap<>();
        call.list(row -> letters.put(row.getLong(2), row.getLong(1)));
        return letters;
    }

    private static Row row(ResultSet row) throws SQLException {
        long letter = row.getLong(6);
        Long deadLetter = row.wasNull() ? null : letter;
        Journal.Place place = new Journal.Place(row.getLong(3), row.getObject(4, LocalDate.class));
        Slot.Id id = new Slot.Id(row.getLong(1), row.getInt(2), place, row.getInt(5), deadLetter);
        Slot.Past past = new Slot.Past(row.getInt(7), row.getInt(8), Failure.isUnanswered(row.getString(9)));
        return new Row(id, past, row.getBoolean(10), row.getBoolean("alone"), row.getObject("replay_to", Long.class));
    }

    private static <T, V> V[] array(
            List<T> list, Function<? super T, ? extends @Nullable V> value, Function<Integer, V[]> made) {
        V[] values = made.apply(list.size());
        for (int i = 0; i < list.size(); i++) {
            values[i] = value.apply(list.get(i));
        }
        return values;
    }

    private static <T> @Nullable String orNull(@Nullable T whole, Function<T, String> part) {
        return whole == null ? null : part.apply(whole);
    }

    private static long micros(Duration duration) {
        // Three hundred years are enough, and do not overflow.
        return Math.min(duration.getSeconds(), 9_000_000_000L) * 1_000_000 + duration.getNano() / 1_000;
    }
}
