package io.postroom.source;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** This process has them from now on. Returns those that whoever had them before did not leave in peace. */
    Set<String> hold(Collection<String> partitions) {
        return database.transact(tx -> table.hold(tx, consumer, partitions)).entrySet().stream()
                .filter(Map.Entry::getValue)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    void release(Collection<String> partitions) {
        database.transact(tx -> {
            table.release(tx, consumer, partitions);
            return true;
        });
    }

    /** How often the message that comes next has failed before, whoever had its partition. */
    int failedAttempts(@Nullable Mark mark) {
        if (mark == null) {
            return 0;
        }
        try {
            return database.run(tx -> table.failedAttempts(tx, consumer, mark)).orElse(0);
        } catch (DatabaseException e) {
            // The next transaction finds out what is the matter with the database.
            return 0;
        }
    }

    /** Notes it, so that whoever has the partition next does not begin to count anew. */
    void noteFailedAttempts(@Nullable Mark mark, int attempts) {
        if (mark == null) {
            return;
        }
        try {
            database.transact(tx -> {
                table.noteFailedAttempts(tx, consumer, mark, attempts);
                return true;
            });
        } catch (DatabaseException e) {
            // It is counted here all the same; the next transaction finds out what is the matter.
        }
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
