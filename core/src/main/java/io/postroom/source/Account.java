package io.postroom.source;

import io.postroom.postgres.Database;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How far a consumer is in its partitions, kept in the transactions of its effects. Safe for use by many threads. */
record Account(Database database, OffsetTable table, String consumer) {

    Map<String, Progress> progress() {
        return database.run(tx -> table.offsets(tx, consumer)).stream()
                .collect(Collectors.toMap(Progress::partition, Function.identity()));
    }

    /** Goes on from there, wherever it was. */
    void put(List<Progress> all) {
        database.transact(tx -> {
            all.forEach(each -> table.put(tx, consumer, each));
            return true;
        });
    }

    /** The last statement of a transaction, so that nobody waits for the row who holds something else that others wait for. */
    void advance(Connection tx, @Nullable Mark mark) {
        if (mark == null || table.advance(tx, consumer, mark)) {
            return;
        }
        Progress found = table.offsets(tx, consumer).stream()
                .filter(each -> each.partition().equals(mark.partition()))
                .findFirst()
                .orElse(null);
        if (found != null && found.next() > mark.expected()) {
            throw new OvertakenException(found.next());
        }
        throw wentBack(mark.partition(), mark.expected(), found);
    }

    /** Compares what was found before with what is there now; it never goes back unless the database does. */
    void require(Map<String, Long> expected) {
        Map<String, Progress> now = progress();
        expected.forEach((partition, next) -> {
            Progress found = now.get(partition);
            if (found == null || found.next() < next) {
                throw wentBack(partition, next, found);
            }
        });
    }

    private WentBackException wentBack(String partition, long expected, @Nullable Progress found) {
        return new WentBackException(
                consumer, partition, expected, found == null ? "no offset at all" : "offset " + found.next());
    }
}
