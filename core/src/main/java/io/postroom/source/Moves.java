package io.postroom.source;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.inbox.Retention;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.subscription.Act;
import io.postroom.subscription.Subscriptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Moves of subscriptions between relays and a broker, as far as this database goes; whoever knows the broker finds the offsets and waits.
 *
 * <p>A move is noted, with its cut, and switched in one transaction. Both happen once, however often they are asked for, and both are
 * audited. Safe for use by many threads.
 */
public final class Moves {
    /** Longer than a switch waits for those that are open: nobody begins anew meanwhile. It ends by itself if whoever switches dies. */
    private static final Duration MARGIN = Duration.ofSeconds(2);

    private final Database database;
    private final Subscriptions subscriptions;
    private final Audit audit;
    private final MoveTable table;
    private final OffsetTable offsets;

    public Moves(Database database, Subscriptions subscriptions, Audit audit) {
        this.database = database;
        this.subscriptions = subscriptions;
        this.audit = audit;
        this.table = new MoveTable(database.schema());
        this.offsets = new OffsetTable(database.schema());
    }

    /** What is asked for. */
    public record Request(
            String subscription, ServedBy target, String feed, List<String> topics, String group, Act act) {
        public Request {
            topics = List.copyOf(topics);
        }

        private boolean isThat(Move move) {
            return move.target() == target && isSameWay(move);
        }

        private boolean isSameWay(Move move) {
            return move.feed().equals(feed)
                    && Set.copyOf(move.topics()).equals(Set.copyOf(topics))
                    && move.group().equals(group);
        }
    }

    /** What a move would find. */
    public Outlook outlook(String name, String feed) {
        return database.run(tx -> outlook(tx, name, feed));
    }

    private Outlook outlook(Connection tx, String name, String feed) {
        return table.outlook(tx, name, feed, Retention.USUAL.kept(), new Feasibility(name, feed))
                .orElseThrow(() -> refused(
                        "subscription.unknown",
                        name,
                        "there is no such subscription; postroom subscription list shows them"));
    }

    /** The move that has begun and not ended. */
    public Optional<Move> underWay(String name) {
        return database.run(tx -> table.openMove(tx, name));
    }

    /** The last move to Kafka that was switched. */
    public Optional<Move> lastToKafka(String name) {
        return database.run(tx -> table.lastMove(tx, name));
    }

    /** How far the source of a subscription is in its partitions, with its effects; by {@code topic/partition}. */
    public Map<String, Long> applied(String name) {
        return database.run(tx -> offsets.offsets(tx, name)).stream()
                .collect(Collectors.toMap(Progress::partition, Progress::next));
    }

    /**
     * Notes the cut of a move to a broker, if no move of the subscription is under way.
     *
     * @param offsets where the topics ended, read before the position was
     * @return the move that is under way now, this one or an earlier one for the same; nothing if the subscription is served so already
     * @throws PostroomException if something speaks against it, or another move is under way
     */
    public Optional<Move> note(Request request, long position, Map<String, Long> offsets) {
        return note(request, tx -> {
            Outlook outlook = requireMovable(tx, request);
            table.noteMove(tx, request, position, offsets, outlook.overlap());
            return table.openMove(tx, request.subscription()).orElseThrow();
        });
    }

    /**
     * Notes the cut of a move back to relays: where the feed is. What waits in the feed up to there is not with the broker yet; it is
     * put down for the relays now, because it may be sent, and gone from there, before they serve. Offsets are read afterwards and
     * noted with {@link #aim}.
     */
    public Optional<Move> note(Request request) {
        return note(request, tx -> {
            Outlook outlook = requireMovable(tx, request);
            table.noteMove(tx, request, outlook.feedPosition(), Map.of(), outlook.overlap());
            Move move = table.openMove(tx, request.subscription()).orElseThrow();
            table.copyDeliveries(tx, move);
            long givenUp = table.givenUp(tx, move);
            if (givenUp > 0) {
                throw refused(
                        "subscription.cannot-move",
                        request.subscription(),
                        "feed " + request.feed() + " has just given up on " + givenUp
                                + " messages, which Kafka lacks; redrive or discard them first");
            }
            return move;
        });
    }

    private Optional<Move> note(Request request, Function<Connection, Move> work) {
        String name = request.subscription();
        check(request);
        return database.transact(tx -> {
            // One after the other, and not while lanes are moved or their number changes.
            subscriptions.lock(tx, name);
            if (outlook(tx, name, request.feed()).servedBy() == request.target()) {
                return Optional.empty();
            }
            Optional<Move> begun = table.openMove(tx, name);
            if (begun.isPresent()) {
                requireSame(request, begun.get());
                return begun;
            }
            if (request.target() == ServedBy.POSTGRES) {
                table.lastMove(tx, name).ifPresent(last -> requireSameWay(request, last));
            }
            Move move = work.apply(tx);
            audit(tx, request.act(), "move", move, Map.of());
            return Optional.of(move);
        });
    }

    /** Notes the offsets of a move whose position was noted before; returns it with those that count. */
    public Move aim(Move move, Map<String, Long> offsets) {
        return database.transact(tx -> {
            table.aimMove(tx, move.id(), offsets);
            return table.openMove(tx, move.subscription())
                    .filter(open -> open.id() == move.id())
                    .orElseThrow(() -> gone(move));
        });
    }

    private static void check(Request request) {
        List<String> problems =
                Audit.problems(request.act().actor(), request.act().reason());
        if (!problems.isEmpty()) {
            throw refused("audit.invalid", request.subscription(), String.join("; ", problems));
        }
    }

    private Outlook requireMovable(Connection tx, Request request) {
        Outlook outlook = outlook(tx, request.subscription(), request.feed());
        requireNone(request.subscription(), outlook);
        return outlook;
    }

    private static void requireNone(String name, Outlook outlook) {
        if (!outlook.obstacles().isEmpty()) {
            throw refused("subscription.cannot-move", name, String.join("; ", outlook.obstacles()));
        }
    }

    private static void requireSame(Request request, Move move) {
        if (!request.isThat(move)) {
            throw refused(
                    "subscription.other-move",
                    request.subscription(),
                    "another move to " + move.target().word() + " is under way, with feed " + move.feed() + ", topics "
                            + move.topics() + " and group " + move.group() + ", noted by " + move.actor()
                            + "; finish or cancel that one first");
        }
    }

    /** Back the way it came: what lies in other topics, or what another group or feed has done, says nothing of what it has applied. */
    private static void requireSameWay(Request request, Move last) {
        if (!request.isSameWay(last)) {
            throw refused(
                    "subscription.other-way",
                    request.subscription(),
                    "it was moved to Kafka with feed " + last.feed() + ", topics " + last.topics() + " and group "
                            + last.group() + ", and this is feed " + request.feed() + ", topics " + request.topics()
                            + " and group " + request.group()
                            + ": what it has not applied yet would be lost; give the same, or none of them");
        }
    }

    /** Ends a move without switching; returns the move, if there was one. */
    public Optional<Move> cancel(String name, Act act) {
        List<String> problems = Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw refused("audit.invalid", name, String.join("; ", problems));
        }
        return database.transact(tx -> {
            if (table.openMove(tx, name).isEmpty()) {
                return Optional.empty();
            }
            subscriptions.lockFree(tx, List.of(name));
            Optional<Move> move = table.openMove(tx, name);
            if (move.isPresent() && table.endMove(tx, move.get().id(), "cancelled")) {
                if (move.get().target() == ServedBy.POSTGRES) {
                    table.dropDeliveries(tx, name);
                }
                audit(tx, act, "move cancel", move.get(), Map.of());
                return move;
            }
            return Optional.empty();
        });
    }

    /** What must still happen before it can be switched. */
    public Waiting waiting(Move move) {
        return database.run(tx -> table.waiting(tx, move));
    }

    /**
     * Switches who serves, once no relay has a lane and no source has a transaction open; sources begin none meanwhile.
     *
     * @param patience how long to wait for the lanes
     * @param hold how long to wait for transactions of sources
     * @return whether it was switched, now or before; false if there is something to wait for again
     */
    public boolean switchOver(Move move, Act act, Duration patience, Duration hold) {
        String attempt = "move subscription " + move.subscription() + " to "
                + move.target().word();
        announce(move, hold.plus(MARGIN));
        boolean switched = false;
        try {
            switched = subscriptions.whileFree(List.of(move.subscription()), attempt, patience, tx -> {
                table.boundWait(tx, hold);
                table.take(tx, move.subscription());
                return subscriptions.lockFree(tx, List.of(move.subscription()))
                        ? Optional.of(switchLocked(tx, move, act))
                        : Optional.empty();
            });
        } catch (DatabaseException e) {
            // Somebody has a transaction open for long: sources go on meanwhile, and it is tried again.
            if (!e.sqlState().equals(SqlState.LOCK_NOT_AVAILABLE)) {
                throw e;
            }
        } finally {
            if (!switched) {
                announce(move, Duration.ZERO);
            }
        }
        return switched;
    }

    private void announce(Move move, Duration time) {
        database.run(tx -> {
            table.announceSwitch(tx, move.id(), time);
            return true;
        });
    }

    private boolean switchLocked(Connection tx, Move move, Act act) {
        String name = move.subscription();
        Move open = table.openMove(tx, name).orElse(null);
        Outlook outlook = outlook(tx, name, move.feed());
        if (open == null || open.id() != move.id()) {
            if (outlook.servedBy() == move.target()) {
                return true;
            }
            throw gone(move);
        }
        if (!table.waiting(tx, move).isOver()) {
            return false;
        }
        requireNone(name, outlook);
        table.endMove(tx, move.id(), "done");
        table.serve(tx, name, move.target());
        Map<String, Object> details = new LinkedHashMap<>();
        if (move.target() == ServedBy.KAFKA) {
            table.putLanes(tx, name, null);
            offsets.drop(tx, name);
            offsets.cut(tx, name, MoveTable.json(move.offsets()));
            details.put("deliveriesDropped", table.dropDeliveries(tx, name));
            details.put("deadLetters", table.adoptLetters(tx, name, "subscription", Reception.KAFKA));
        } else {
            table.putLanes(tx, name, move.position());
            // A source that slept through it all finds nothing to go on from.
            offsets.drop(tx, name);
            details.put("deliveriesTaken", outlook.deliveries() - table.dropBuried(tx, name));
            details.put("deadLetters", table.adoptLetters(tx, name, Reception.KAFKA, "subscription"));
        }
        audit(tx, act, "move end", move, details);
        table.wakeRelays(tx);
        return true;
    }

    private void audit(Connection tx, Act act, String verb, Move move, Map<String, ?> more) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("to", move.target().word());
        details.put("feed", move.feed());
        details.put("topics", move.topics());
        details.put("group", move.group());
        details.put("position", move.position());
        details.put("offsets", move.offsets());
        details.putAll(more);
        audit.record(
                tx, act.actor(), "subscription " + verb, "subscription " + move.subscription(), act.reason(), details);
    }

    private static PostroomException gone(Move move) {
        return refused("subscription.move-gone", move.subscription(), "the move was cancelled; nothing was changed");
    }

    private static PostroomException refused(String code, String name, String fact) {
        return new PostroomException(code, "could not move subscription " + name + ": " + fact);
    }
}
