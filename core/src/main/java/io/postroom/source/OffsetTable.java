package io.postroom.source;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Offsets of sources: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class OffsetTable {
    private final Sql offsets;
    private final Sql put;
    private final Sql advance;
    private final Sql drop;
    private final Sql cut;
    private final Sql failedAttempts;
    private final Sql noteFailedAttempts;
    private final Sql hold;
    private final Sql release;

    OffsetTable(Schema schema) {
        offsets = schema.sql(OffsetTable.class, "offsets.sql");
        put = schema.sql(OffsetTable.class, "put_offset.sql");
        advance = schema.sql(OffsetTable.class, "advance_offset.sql");
        drop = schema.sql(OffsetTable.class, "drop_offsets.sql");
        cut = schema.sql(OffsetTable.class, "cut_offsets.sql");
        failedAttempts = schema.sql(OffsetTable.class, "failed_attempts.sql");
        noteFailedAttempts = schema.sql(OffsetTable.class, "note_failed_attempts.sql");
        hold = schema.sql(OffsetTable.class, "hold_offsets.sql");
        release = schema.sql(OffsetTable.class, "release_offsets.sql");
    }

    List<Progress> offsets(Connection tx, String consumer) {
        return offsets.on(tx).set("consumer", consumer).list(row -> {
            long epoch = row.getLong("leader_epoch");
            return new Progress(
                    row.getString("partition"),
                    row.getObject("topic_id", UUID.class),
                    row.getLong("began_offset"),
                    row.getLong("next_offset"),
                    row.getObject("leader_epoch") == null ? null : epoch);
        });
    }

    void put(Connection tx, String consumer, Progress progress) {
        put.on(tx)
                .set("consumer", consumer)
                .set("partition", progress.partition())
                .set("topic_id", progress.topicId())
                .set("began", progress.began())
                .set("next", progress.next())
                .set("epoch", progress.epoch())
                .update();
    }

    boolean advance(Connection tx, String consumer, Mark mark) {
        return advance.on(tx)
                        .set("consumer", consumer)
                        .set("partition", mark.partition())
                        .set("expected", mark.expected())
                        .set("next", mark.next())
                        .set("epoch", mark.epoch())
                        .update()
                == 1;
    }

    Optional<Integer> failedAttempts(Connection tx, String consumer, Mark mark) {
        return failedAttempts
                .on(tx)
                .set("consumer", consumer)
                .set("partition", mark.partition())
                .set("expected", mark.expected())
                .first(row -> row.getInt("attempts"));
    }

    void noteFailedAttempts(Connection tx, String consumer, Mark mark, int attempts) {
        noteFailedAttempts
                .on(tx)
                .set("consumer", consumer)
                .set("partition", mark.partition())
                .set("expected", mark.expected())
                .set("attempts", attempts)
                .update();
    }

    /** Whether each was deserted by whoever had it before. */
    Map<String, Boolean> hold(Connection tx, String consumer, Collection<String> partitions) {
        Map<String, Boolean> deserted = new HashMap<>();
        hold.on(tx)
                .set("consumer", consumer)
                .set("partitions", partitions.toArray(String[]::new))
                .list(row -> deserted.put(row.getString("partition"), row.getBoolean("deserted")));
        return deserted;
    }

    void release(Connection tx, String consumer, Collection<String> partitions) {
        release.on(tx)
                .set("consumer", consumer)
                .set("partitions", partitions.toArray(String[]::new))
                .update();
    }

    void drop(Connection tx, String consumer) {
        drop.on(tx).set("consumer", consumer).update();
    }

    /** @param offsets JSON, by {@code topic/partition} */
    void cut(Connection tx, String consumer, String offsets) {
        cut.on(tx).set("consumer", consumer).set("offsets", offsets).update();
    }
}
