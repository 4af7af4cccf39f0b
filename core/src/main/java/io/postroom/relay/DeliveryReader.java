package io.postroom.relay;

import io.postroom.journal.Journal;
import io.postroom.message.Message;
import io.postroom.message.Reading;
import io.postroom.postgres.Database;
import io.postroom.retry.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the messages of claimed deliveries: from the outbox, or from the dead letters they were redriven from. */
final class DeliveryReader {
    static final Fault GONE = Fault.of("message.gone", "the message is no longer in the outbox");

    private final Database database;
    private final Journal journal;
    private final DeliveryTable deliveries;

    DeliveryReader(Database database, Journal journal, DeliveryTable deliveries) {
        this.database = database;
        this.journal = journal;
        this.deliveries = deliveries;
    }

    /** A claimed delivery with its message, or with the reason why it cannot be read. */
    record Claimed(
            DeliveryTable.Row row,
            @Nullable Message message,
            @Nullable Fault unreadable) {}

    /** In order of position. */
    List<Claimed> read(List<DeliveryTable.Row> rows) {
        List<DeliveryTable.Row> sorted = rows.stream()
                .sorted(Comparator.comparingLong(row -> row.id().position()))
                .toList();
        Map<Journal.Place, Message> stored = journal.fetch(sorted.stream()
                .filter(row -> row.id().deadLetter() == null)
                .map(row -> row.id().place())
                .toList());
        List<Long> letters = sorted.stream()
                .map(row -> row.id().deadLetter())
                .filter(Objects::nonNull)
                .toList();
        Map<Long, Message> redriven =
                letters.isEmpty() ? Map.of() : database.run(tx -> deliveries.readRedriven(tx, letters));
        List<Claimed> claimed = new ArrayList<>(sorted.size());
        for (DeliveryTable.Row row : sorted) {
            Long letter = row.id().deadLetter();
            claimed.add(reading(row, letter == null ? stored.get(row.id().place()) : redriven.get(letter)));
        }
        return claimed;
    }

    private Claimed reading(DeliveryTable.Row row, @Nullable Message stored) {
        if (stored == null) {
            return new Claimed(row, null, GONE);
        }
        Reading reading = journal.reading(stored);
        if (reading instanceof Reading.Unreadable unreadable) {
            return new Claimed(row, null, Fault.of(unreadable.errorClass(), unreadable.reason()));
        }
        Message message = ((Reading.Read) reading).message();
        Long replayTo = row.replayTo();
        return new Claimed(row, replayTo == null ? message : Replay.marked(message, replayTo), null);
    }
}
