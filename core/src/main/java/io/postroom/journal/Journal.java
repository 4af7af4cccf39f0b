package io.postroom.journal;

import io.postroom.PostroomException;
import io.postroom.message.Message;
import io.postroom.message.Reading;
import io.postroom.message.Upcasters;
import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stamps messages with positions and reads them by position.
 *
 * <p>Any number of nodes may stamp at once; one of them does and the others do not wait. A node that dies while stamping leaves
 * nothing behind. Safe for use by many threads.
 */
public final class Journal {
    /** How many messages one stamp's transaction takes on: few at first, so that readers have something soon, more while there are more. */
    private static final int STAMP_MIN = 4_000;

    private static final int STAMP_MAX = 20_000;

    /** Before the first answer of the database. */
    private static final Head UNKNOWN = new Head(0, LocalDate.MIN);

    /** How many positions one read looks at at most. */
    private static final int REACH_MAX = 20_000;

    /** How long to wait for another node's stamp where everything is to be stamped. */
    private static final long BUSY_NANOS_MAX = 10_000_000_000L;

    private static final long BUSY_PAUSE_NANOS = 1_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

    private final Database database;
    private final JournalTable table;
    private final Upcasters upcasters;
    private final Telemetry telemetry;
    /** What this one is the beginning of; null if it is the whole. */
    private final @Nullable Journal whole;

    /** Where it ends for its readers, now. */
    private final LongSupplier last;

    /**
     * The last head heard of, and the snapshot in which nothing more was due. Written in the order in which the database answered,
     * so that a head that goes back, after a failover that lost commits, is believed.
     */
    private volatile Head head = UNKNOWN;

    private volatile String seen = "";
    private int stampMax = STAMP_MIN;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    public Journal(Database database, Telemetry telemetry) {
        this(database, Upcasters.NONE, telemetry);
    }

    /** Messages are read through the upcasters, whoever reads them. */
    public Journal(Database database, Upcasters upcasters, Telemetry telemetry) {
        this.database = database;
        this.table = new JournalTable(database.schema());
        this.upcasters = upcasters;
        this.telemetry = telemetry;
        this.whole = null;
        this.last = () -> Long.MAX_VALUE;
    }

    private Journal(Journal whole, LongSupplier last) {
        this.database = whole.database;
        this.table = whole.table;
        this.upcasters = whole.upcasters;
        this.telemetry = whole.telemetry;
        this.whole = whole;
        this.last = last;
    }

    /** The same journal for whoever is to read no further than a position: as if it ended there. */
    public Journal endingAt(long last) {
        return endingAt(() -> last);
    }

    /** The same where the position may change. Whoever has read beyond one that goes back takes it that the database has gone back. */
    public Journal endingAt(LongSupplier last) {
        return new Journal(this, last);
    }

    /** Gives positions to what has been committed, once. */
    public synchronized Stamped stamp() {
        long began = System.nanoTime();
        String unchanged = seen;
        // Until there is an answer: a server that was replaced meanwhile may show the same snapshot of other data.
        seen = "";
        Stamp stamp = database.run(tx -> table.stamp(tx, stampMax, unchanged));
        stampMax = stamp.state() == Stamp.State.MORE ? Math.min(2 * stampMax, STAMP_MAX) : STAMP_MIN;
        if (stamp.state() == Stamp.State.FOREIGN) {
            return restamp();
        }
        if (stamp.state() == Stamp.State.IDLE || stamp.state() == Stamp.State.STAMPED) {
            seen = stamp.lookedAt();
        }
        if (!stamp.lastDay().equals(LocalDate.MIN)) {
            head = new Head(stamp.lastPosition(), stamp.lastDay());
        }
        if (stamp.stamped() > 0) {
            telemetry.stamped(stamp.stamped(), Duration.ofNanos(System.nanoTime() - began));
        }
        return new Stamped(stamp.stamped(), stamp.state() == Stamp.State.MORE, stamp.state() == Stamp.State.BUSY);
    }

    /** Gives positions to everything that has been committed by now. */
    public void stampAll() {
        long deadline = System.nanoTime() + BUSY_NANOS_MAX;
        Stamped stamped = stamp();
        // Each call is a bounded step towards a snapshot that is fixed; another node's stamp takes no longer.
        while (stamped.more() || stamped.busy() && System.nanoTime() < deadline) {
            if (stamped.busy()) {
                LockSupport.parkNanos(BUSY_PAUSE_NANOS);
            }
            stamped = stamp();
        }
    }

    /** How many messages got a position, whether more are due at once, and whether another node was stamping instead. */
    public record Stamped(long messages, boolean more, boolean busy) {}

    private Stamped restamp() {
        LOG.warn(
                "the journal of schema {} was stamped in another cluster: giving positions to every message without one",
                database.schema().name());
        long restamped = database.transact(table::restamp);
        seen = "";
        refreshHead();
        telemetry.restamped(restamped);
        LOG.warn(
                "restamped the journal of schema {}: {} messages got a position, up to {}",
                database.schema().name(),
                restamped,
                head.position());
        return new Stamped(restamped, true, false);
    }

    /** The end of the journal as last heard of. */
    public Head head() {
        if (whole == null) {
            return head;
        }
        Head end = whole.head();
        long bound = last.getAsLong();
        return end.position() > bound ? new Head(bound, end.day()) : end;
    }

    /** Asks for the end of the journal. */
    public synchronized Head refreshHead() {
        if (whole != null) {
            whole.refreshHead();
            return head();
        }
        head = database.run(table::lastTick);
        return head;
    }

    /** Runs when somebody in this process says that something was committed, or soon will be. Ends with what is returned. */
    public Runnable onNudge(Runnable listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /** Whoever stamps in this process should look now. */
    public void nudge() {
        listeners.forEach(Runnable::run);
    }

    /** Where a lane at this position reads on. */
    public LanePosition locate(long position) {
        return new LanePosition(position, database.run(tx -> table.dayOf(tx, position)));
    }

    /** The last position given out before a time. */
    public long positionAt(Instant time) {
        return database.run(tx -> table.positionAt(tx, time))
                .map(Head::position)
                .orElse(0L);
    }

    /**
     * The last position whose message is gone, dropped with its day: whoever begins before it does not get everything. Zero if nothing
     * is gone; what is archived is not. May take its time where old days were dropped; for operators, nothing to poll.
     */
    public long keptAfter() {
        return database.transact(table::keptAfter);
    }

    /** Reads one lane's next messages, bounded by count and by bytes; the first message is read whatever its size. */
    public Batch read(Lane lane, LanePosition from, int messagesMax, long bytesMax) {
        return read(lane, from, Long.MAX_VALUE, messagesMax, bytesMax);
    }

    /** The same, up to {@code last} at most. */
    public Batch read(Lane lane, LanePosition from, long last, int messagesMax, long bytesMax) {
        Head end = head();
        long until = Math.min(end.position(), last);
        if (from.position() >= until) {
            return new Batch(List.of(), from);
        }
        // A bound on what the worst of plans could sort, even in a table without statistics.
        long span = Math.min((long) messagesMax * lane.lanes(), REACH_MAX);
        long upTo = Math.min(until, from.position() + span);
        return database.run(tx -> {
            // Two more than wanted: the entries at the ends of the span come along even if they are another lane's.
            int limit = messagesMax + 2;
            Head to = new Head(upTo, end.day());
            List<JournalTable.Entry> entries = table.readEntries(tx, from, to, lane.lanes(), lane.lane(), limit);
            if (entries.isEmpty() || entries.get(0).position() != from.position() + 1) {
                // Asked after the journal: a day only ever goes from there to the archive.
                JournalTable.ArchivedDay archived =
                        table.findArchivedDay(tx, from.position() + 1).orElse(null);
                if (archived != null) {
                    return readArchived(tx, lane, from, archived, upTo, messagesMax, bytesMax);
                }
            }
            return batch(tx, lane, entries, upTo, limit, messagesMax, bytesMax);
        });
    }

    /** No further than the day's end; what follows is for the next read. */
    private Batch readArchived(
            Connection tx,
            Lane lane,
            LanePosition from,
            JournalTable.ArchivedDay day,
            long upTo,
            int messagesMax,
            long bytesMax) {
        long last = Math.min(upTo, day.lastPosition());
        if (day.dropped()) {
            LOG.warn(
                    "passing over positions {} to {} of schema {}: day {} was dropped",
                    from.position() + 1,
                    last,
                    database.schema().name(),
                    day.day());
            return new Batch(List.of(), new LanePosition(last, day.day()));
        }
        int limit = messagesMax + 2;
        List<JournalTable.Entry> entries =
                table.readArchivedEntries(tx, day.day(), from.position(), last, lane.lanes(), lane.lane(), limit);
        return batch(tx, lane, entries, last, limit, messagesMax, bytesMax);
    }

    private Batch batch(
            Connection tx,
            Lane lane,
            List<JournalTable.Entry> entries,
            long upTo,
            int limit,
            int messagesMax,
            long bytesMax) {
        JournalTable.Entry lastRead = entries.isEmpty() ? null : entries.get(entries.size() - 1);
        boolean spanned = lastRead != null && lastRead.position() == upTo;
        if (!spanned && entries.size() < limit) {
            throw gone(upTo);
        }
        List<JournalTable.Entry> mine =
                entries.stream().filter(JournalTable.Entry::mine).toList();
        List<JournalTable.Entry> taken = within(mine, messagesMax, bytesMax);
        JournalTable.Entry next = spanned && taken.size() == mine.size() ? lastRead : taken.get(taken.size() - 1);
        List<JournalTable.Entry> wanted = taken.stream().filter(lane::isDue).toList();
        return new Batch(
                wanted.isEmpty() ? List.of() : items(wanted, messages(tx, places(wanted), lane.filter())),
                new LanePosition(next.position(), next.day()));
    }

    /**
     * The messages at some places that a filter wants. Those that the outbox does not have are looked for in the archive, in this order: a
     * day that is archived in between is found there. A day is archived only when it is over and two later ones have been stamped: the
     * last day that is known to be stamped, and what comes after it, need not be looked for.
     */
    private Map<Place, JournalTable.Due> messages(Connection tx, List<Place> places, Filter filter) {
        Map<Place, JournalTable.Due> found = table.readMessages(tx, places, filter);
        if (found.keySet().containsAll(places)) {
            return found;
        }
        // Without a filter what is missing is not in the outbox; with one it is mostly not wanted.
        Head end = head();
        LocalDate hot = filter.equals(Filter.ALL) || end == UNKNOWN ? LocalDate.MAX : end.day();
        List<Place> missing = places.stream()
                .filter(place -> !found.containsKey(place) && place.day().isBefore(hot))
                .toList();
        if (!missing.isEmpty()) {
            found.putAll(table.readArchivedMessages(tx, missing, filter));
        }
        return found;
    }

    /** Where a message lies in the outbox. */
    public record Place(long seq, LocalDate day) {}

    /** The messages at some places, archived or not; what is no longer there is missing. As stored: see {@link #reading}. */
    public Map<Place, Message> fetch(List<Place> places) {
        Map<Place, Message> messages = new HashMap<>();
        if (!places.isEmpty()) {
            database.run(tx -> messages(tx, places, Filter.ALL))
                    .forEach((place, due) -> messages.put(place, due.message()));
        }
        return messages;
    }

    /** A stored message as readers see it: in the newest version of its event type. */
    public Reading reading(Message stored) {
        return upcasters.read(stored);
    }

    /** The database has gone back: whoever read it must begin anew from what it knows now. */
    private JournalGoneBackException gone(long position) {
        if (whole != null) {
            return whole.gone(position);
        }
        head = UNKNOWN;
        seen = "";
        return new JournalGoneBackException(position);
    }

    /** Whether the journal ends before a position that was read in it: the database has gone back. */
    public boolean endsBefore(LanePosition read) {
        Head end = head();
        return end != UNKNOWN && end.position() < read.position();
    }

    private static List<Place> places(List<JournalTable.Entry> entries) {
        return entries.stream().map(JournalTable.Entry::place).toList();
    }

    private List<Batch.Item> items(List<JournalTable.Entry> entries, Map<Place, JournalTable.Due> messages) {
        List<Batch.Item> items = new ArrayList<>(messages.size());
        for (JournalTable.Entry entry : entries) {
            Place place = entry.place();
            JournalTable.Due due = messages.get(place);
            if (due != null) {
                items.add(item(entry, place, due));
            }
        }
        return items;
    }

    private Batch.Item item(JournalTable.Entry entry, Place place, JournalTable.Due due) {
        Message message = due.message();
        Reading.Unreadable unreadable = null;
        if (!upcasters.isEmpty()) {
            Reading reading = upcasters.read(message);
            if (reading instanceof Reading.Read read) {
                message = read.message();
            } else {
                unreadable = (Reading.Unreadable) reading;
            }
        }
        return new Batch.Item(
                entry.position(), place, entry.keyHash(), entry.bytes(), due.early(), message, unreadable);
    }

    /**
     * A share of the journal: lane {@code lane} of {@code lanes}, through a filter. Where the number of lanes has changed, what a
     * former lane had delivered, up to {@code formerPositions}, is not read again.
     */
    public record Lane(int lane, int lanes, Filter filter, List<Long> formerPositions) {
        public Lane {
            if (lane < 0 || lane >= lanes) {
                throw new PostroomException(
                        "lane.invalid", "could not read lane " + lane + ": there are " + lanes + " lanes");
            }
            formerPositions = List.copyOf(formerPositions);
        }

        public Lane(int lane, int lanes, Filter filter) {
            this(lane, lanes, filter, List.of());
        }

        private boolean isDue(JournalTable.Entry entry) {
            return formerPositions.isEmpty()
                    || entry.position() > formerPositions.get(entry.keyHash() % formerPositions.size());
        }
    }

    private static List<JournalTable.Entry> within(List<JournalTable.Entry> entries, int messagesMax, long bytesMax) {
        long bytes = 0;
        int count = Math.min(entries.size(), messagesMax);
        for (int i = 0; i < count; i++) {
            bytes += entries.get(i).bytes();
            if (bytes > bytesMax && i > 0) {
                return entries.subList(0, i);
            }
        }
        return entries.subList(0, count);
    }
}
