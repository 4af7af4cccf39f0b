package io.postroom.subscription;

import io.postroom.journal.ArchiveDays;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Lanes as an operator changes them: one method per statement, no decisions. */
final class LaneTable {
    private final Sql lock;
    private final Sql leased;
    private final Sql fence;
    private final Sql move;
    private final Sql open;
    private final Sql changeCount;
    private final Sql close;
    private final Sql level;
    private final Sql moveDeliveries;
    private final Sql forgetFormer;
    private final Sql countEntries;
    private final ArchiveDays archiveDays;

    LaneTable(Schema schema) {
        lock = schema.sql(LaneTable.class, "lock_lanes.sql");
        leased = schema.sql(LaneTable.class, "leased_lanes.sql");
        fence = schema.sql(LaneTable.class, "fence_lane.sql");
        move = schema.sql(LaneTable.class, "move_lanes.sql");
        open = schema.sql(LaneTable.class, "open_lanes.sql");
        changeCount = schema.sql(LaneTable.class, "change_count.sql");
        close = schema.sql(LaneTable.class, "close_lanes.sql");
        level = schema.sql(LaneTable.class, "level_lanes.sql");
        moveDeliveries = schema.sql(LaneTable.class, "move_deliveries.sql");
        forgetFormer = schema.sql(LaneTable.class, "forget_former.sql");
        countEntries = schema.sql(LaneTable.class, "count_entries.sql");
        archiveDays = new ArchiveDays(schema);
    }

    /** A lane that is locked for the rest of a transaction. */
    record Locked(
            int lane,
            long position,
            @Nullable Long replayTo,
            @Nullable Long resumeAt,
            long fence,
            @Nullable UUID owner,
            boolean leased) {

        boolean isReplaying() {
            return replayTo != null;
        }

        /** Where it goes on once a replay is over: where it is, if there is none. */
        long resumesAt() {
            return resumeAt == null ? position : resumeAt;
        }
    }

    /** A lane that some relay may act on now. */
    record Leased(int lane, String relay) {}

    List<Locked> lock(Connection tx, String name) {
        return lock(tx, name, null);
    }

    List<Locked> lock(Connection tx, String name, @Nullable Integer lane) {
        return lock.on(tx)
                .set("name", name)
                .set("lane", lane == null ? null : Long.valueOf(lane))
                .list(row -> new Locked(
                        row.getInt("lane"),
                        row.getLong("position"),
                        row.getObject("replay_to", Long.class),
                        row.getObject("resume_at", Long.class),
                        row.getLong("fence"),
                        row.getObject("owner", UUID.class),
                        row.getBoolean("leased")));
    }

    List<Leased> leased(Connection tx, String name) {
        return leased.on(tx).set("name", name).list(row -> {
            String relay = row.getString(2);
            return new Leased(row.getInt(1), relay == null ? "(unknown)" : relay);
        });
    }

    void fence(Connection tx, String name, int lane) {
        fence.on(tx).set("name", name).set("lane", lane).update();
    }

    void move(Connection tx, String name, List<LaneMove> moves) {
        move.on(tx)
                .set("name", name)
                .set("lanes", moves.stream().map(LaneMove::lane).toArray(Integer[]::new))
                .set("positions", moves.stream().mapToLong(LaneMove::to).toArray())
                .set("replay_tos", moves.stream().map(LaneMove::replayTo).toArray(Long[]::new))
                .set("resume_ats", moves.stream().map(LaneMove::resumeAt).toArray(Long[]::new))
                .update();
    }

    void open(Connection tx, String name, int lanes, long position, long replayTo) {
        open.on(tx)
                .set("name", name)
                .set("lanes", lanes)
                .set("position", position)
                .set("replay_to", replayTo)
                .update();
    }

    void changeCount(Connection tx, String name, int lanes, long[] formerPositions) {
        changeCount
                .on(tx)
                .set("name", name)
                .set("lanes", lanes)
                .set("former_positions", formerPositions)
                .update();
    }

    void close(Connection tx, String name, int lanes) {
        close.on(tx).set("name", name).set("lanes", lanes).update();
    }

    void level(Connection tx, String name, int lanes, long position, long fence, @Nullable UUID owner) {
        level.on(tx)
                .set("name", name)
                .set("lanes", lanes)
                .set("position", position)
                .set("fence", fence)
                .set("owner", owner)
                .update();
    }

    int moveDeliveries(Connection tx, String name, int lanes) {
        return moveDeliveries.on(tx).set("name", name).set("lanes", lanes).update();
    }

    boolean forgetFormer(Connection tx, String name) {
        return forgetFormer.on(tx).set("name", name).update() == 1;
    }

    /** By lane; lanes without any are missing. */
    Map<Integer, Long> countEntries(Connection tx, int count, List<LaneMove> spans) {
        Map<Integer, Long> counts = new HashMap<>();
        long first = spans.stream().mapToLong(LaneMove::after).min().orElse(0);
        long last = spans.stream().mapToLong(LaneMove::upTo).max().orElse(0);
        ArchiveDays.Span archived = archiveDays.of(tx, first, last).orElse(null);
        countEntries
                .on(tx)
                .set("count", count)
                .set("lanes", spans.stream().map(LaneMove::lane).toArray(Integer[]::new))
                .set("after", spans.stream().mapToLong(LaneMove::after).toArray())
                .set("up_to", spans.stream().mapToLong(LaneMove::upTo).toArray())
                .set("first", first)
                .set("last", last)
                .set("first_day", archived == null ? null : archived.first())
                .set("last_day", archived == null ? null : archived.last())
                .list(row -> counts.put(row.getInt(1), row.getLong(2)));
        return counts;
    }
}
