package io.postroom.server.subscription;

import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Terminal;
import io.postroom.source.Move;
import io.postroom.subscription.CircuitState;
import io.postroom.subscription.DeliveryState;
import io.postroom.subscription.HeldKey;
import io.postroom.subscription.LaneMove;
import io.postroom.subscription.LaneState;
import io.postroom.subscription.Pause;
import io.postroom.subscription.RemovalPlan;
import io.postroom.subscription.SkippedMessage;
import io.postroom.subscription.SubscriptionDetails;
import io.postroom.subscription.SubscriptionState;
import io.postroom.subscription.Subscriptions;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Subscriptions, lanes and plans as tables and as JSON. The names are part of the program's promise: scripts read them. */
final class SubscriptionListing {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private SubscriptionListing() {}

    static Listing subscriptions(List<SubscriptionState> states, OutputFormat format) {
        Listing listing = new Listing(
                "name",
                "state",
                "lanes",
                "lanesLeased",
                "order",
                "position",
                "lagMessages",
                "lagSeconds",
                "putAside",
                "putAsideSeconds",
                "unreadable",
                "heldKeys",
                "deadLetters",
                "copyOf",
                "aggregateTypes",
                "eventTypes",
                "tenants",
                "createdAt");
        for (SubscriptionState state : states) {
            listing.row(
                    state.name(),
                    word(state),
                    state.lanes(),
                    state.lanesLeased(),
                    state.order(),
                    state.position(),
                    state.lagMessages(),
                    state.lag(),
                    bounded(state.putAside().total(), format),
                    state.putAside().oldest(),
                    bounded(state.putAside().unreadable(), format),
                    bounded(state.heldKeys(), format),
                    bounded(state.deadLetters(), format),
                    state.copyOf(),
                    state.aggregateTypes(),
                    state.eventTypes(),
                    state.tenants(),
                    state.createdAt());
        }
        return listing;
    }

    /** A number that was counted no further than its limit. */
    private static Object bounded(long count, OutputFormat format) {
        return format == OutputFormat.TABLE && count >= Subscriptions.COUNT_MAX ? count + "+" : (Object) count;
    }

    /** What matters most of a subscription at the moment, in one word. */
    static String word(SubscriptionState state) {
        if (state.pause() != null) {
            return "paused";
        }
        if (state.isDone()) {
            return "done";
        }
        if (!state.servedBy().equals("postgres")) {
            return state.servedBy();
        }
        if (state.unavailableSince() != null) {
            return "unavailable";
        }
        if (state.lanesWanted() != null) {
            return "changing";
        }
        if (state.lanesReplaying() > 0) {
            return "replaying";
        }
        return state.lanesLeased() == 0 ? "unserved" : "active";
    }

    static Listing lanes(List<LaneState> lanes) {
        Listing listing = new Listing(
                "subscription",
                "lane",
                "position",
                "lagMessages",
                "lagSeconds",
                "owner",
                "ownerName",
                "leasedUntil",
                "held",
                "fence",
                "replayTo");
        for (LaneState lane : lanes) {
            listing.row(
                    lane.subscription(),
                    lane.lane(),
                    lane.position(),
                    lane.lagMessages(),
                    lane.lag(),
                    lane.owner(),
                    lane.ownerName(),
                    lane.leasedUntil(),
                    lane.isHeld(),
                    lane.fence(),
                    lane.replayTo());
        }
        return listing;
    }

    static Listing moves(List<LaneMove> moves) {
        Listing listing = new Listing("lane", "from", "to", "replayTo", "resumeAt", "positions", "messages");
        for (LaneMove move : moves) {
            listing.row(
                    move.lane(),
                    move.from(),
                    move.to(),
                    move.replayTo(),
                    move.resumeAt(),
                    move.positions(),
                    move.messages());
        }
        return listing;
    }

    static Listing skipped(SkippedMessage skipped) {
        return new Listing("position", "deadLetter", "released", "already")
                .row(skipped.position(), skipped.deadLetter(), skipped.released(), skipped.already());
    }

    static Listing removal(RemovalPlan plan) {
        return new Listing("name", "lanes", "undelivered", "deliveries", "deadLetters")
                .row(plan.name(), plan.lanes(), plan.undelivered(), plan.deliveriesTotal(), plan.deadLetters());
    }

    static Listing deliveries(List<DeliveryState> deliveries) {
        Listing listing = new Listing(
                "position",
                "state",
                "eventType",
                "aggregateType",
                "aggregateId",
                "tenantId",
                "attempts",
                "dueAt",
                "sendingBy",
                "errorClass",
                "error",
                "since",
                "deadLetter",
                "messageId");
        for (DeliveryState each : deliveries) {
            listing.row(
                    each.position(),
                    each.state(),
                    each.eventType(),
                    each.aggregateType(),
                    each.aggregateId(),
                    each.tenantId(),
                    each.attempts(),
                    each.dueAt(),
                    each.sendingBy(),
                    each.errorClass(),
                    each.error(),
                    each.since(),
                    each.deadLetter(),
                    each.messageId());
        }
        return listing;
    }

    static Listing heldKeys(List<HeldKey> keys) {
        Listing listing = new Listing(
                "deadLetter",
                "tenantId",
                "aggregateType",
                "aggregateId",
                "parked",
                "errorClass",
                "buriedAt",
                "messageId",
                "position");
        for (HeldKey key : keys) {
            listing.row(
                    key.deadLetter(),
                    key.tenantId(),
                    key.aggregateType(),
                    key.aggregateId(),
                    key.parked(),
                    key.errorClass(),
                    key.buriedAt(),
                    key.messageId(),
                    key.position());
        }
        return listing;
    }

    /** @param move the one that has begun and not ended */
    static void show(Terminal terminal, SubscriptionDetails details, @Nullable Move move, OutputFormat format) {
        if (format != OutputFormat.TABLE) {
            Map<String, @Nullable Object> object = json(details);
            facts(move).forEach((fact, value) -> object.put(fact, plain(value)));
            terminal.print(JSON.writeValueAsString(object) + "\n");
            return;
        }
        Listing facts = new Listing("fact", "value");
        Map<String, @Nullable Object> known = facts(details);
        known.putAll(facts(move));
        known.forEach((fact, value) -> {
            if (value != null) {
                facts.row(fact, value);
            }
        });
        facts.print(terminal, format);
        terminal.print("\n");
        lanes(details.lanes()).print(terminal, format);
        if (!details.circuits().isEmpty()) {
            terminal.print("\n");
            circuits(details.circuits()).print(terminal, format);
        }
    }

    private static Listing circuits(List<CircuitState> circuits) {
        Listing listing = new Listing("circuitOfRelay", "openedAt", "probeAt", "failures", "errorClass", "error");
        for (CircuitState circuit : circuits) {
            listing.row(
                    circuit.relay(),
                    circuit.openedAt(),
                    circuit.probeAt(),
                    circuit.failures(),
                    circuit.errorClass(),
                    circuit.error());
        }
        return listing;
    }

    private static Map<String, @Nullable Object> facts(SubscriptionDetails details) {
        SubscriptionState state = details.state();
        Map<String, @Nullable Object> facts = new LinkedHashMap<>();
        facts.put("name", state.name());
        facts.put("state", word(state));
        Pause pause = state.pause();
        if (pause != null) {
            facts.put("pausedAt", pause.at());
            facts.put("pausedBy", pause.by());
            facts.put("pauseReason", pause.reason());
        }
        facts.put("unavailableSince", state.unavailableSince());
        facts.put("lanes", state.lanes());
        facts.put("lanesWanted", state.lanesWanted());
        facts.put("lanesLeased", state.lanesLeased());
        facts.put("catchUpTo", state.catchUpTo());
        facts.put("order", state.order());
        facts.put("onBurial", state.onBurial());
        facts.put("retry", state.retry());
        facts.put("aggregateTypes", state.aggregateTypes());
        facts.put("eventTypes", state.eventTypes());
        facts.put("tenants", state.tenants());
        facts.put("createdAt", state.createdAt());
        facts.put("position", state.position());
        facts.put("lagMessages", state.lagMessages());
        facts.put("lagSeconds", state.lag());
        facts.put("relays", details.relays());
        facts.put("deliveries", byState(details));
        facts.put("putAside", state.putAside().total());
        facts.put("putAsideSeconds", state.putAside().oldest());
        facts.put("heldKeys", details.heldKeys());
        facts.put("deadLetters", details.deadLetters());
        facts.put("copyOf", state.copyOf());
        facts.put("servedBy", state.servedBy());
        facts.put("copies", details.copies());
        facts.put("lanesReplaying", state.lanesReplaying());
        facts.put("replayRate", state.lanesReplaying() > 0 ? state.replayRate() : null);
        return facts;
    }

    private static Map<String, @Nullable Object> facts(@Nullable Move move) {
        Map<String, @Nullable Object> facts = new LinkedHashMap<>();
        facts.put("movingTo", move == null ? null : move.target().word());
        facts.put("movingSince", move == null ? null : move.notedAt());
        facts.put("movingBy", move == null ? null : move.actor());
        facts.put("moveReason", move == null ? null : move.reason());
        return facts;
    }

    private static String byState(SubscriptionDetails details) {
        return details.deliveries().isEmpty()
                ? "0"
                : details.deliveries().entrySet().stream()
                        .map(entry -> entry.getValue() + " " + entry.getKey())
                        .collect(Collectors.joining(", "));
    }

    static Map<String, @Nullable Object> json(SubscriptionDetails details) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        facts(details).forEach((fact, value) -> object.put(fact, plain(value)));
        object.put("deliveries", details.deliveries());
        object.put(
                "laneStates",
                details.lanes().stream().map(SubscriptionListing::lane).toList());
        object.put(
                "circuits",
                details.circuits().stream().map(SubscriptionListing::circuit).toList());
        return object;
    }

    private static Map<String, @Nullable Object> lane(LaneState lane) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("lane", lane.lane());
        object.put("position", lane.position());
        object.put("lagMessages", lane.lagMessages());
        object.put("lagSeconds", plain(lane.lag()));
        object.put("ownerName", lane.ownerName());
        object.put("leasedUntil", plain(lane.leasedUntil()));
        object.put("held", lane.isHeld());
        object.put("fence", lane.fence());
        object.put("replayTo", lane.replayTo());
        object.put("resumeAt", lane.resumeAt());
        return object;
    }

    private static Map<String, @Nullable Object> circuit(CircuitState circuit) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("relay", circuit.relay());
        object.put("openedAt", plain(circuit.openedAt()));
        object.put("probeAt", plain(circuit.probeAt()));
        object.put("failures", circuit.failures());
        object.put("errorClass", circuit.errorClass());
        object.put("error", circuit.error());
        return object;
    }

    /** A value as JSON has it: durations are seconds, times text. */
    private static @Nullable Object plain(@Nullable Object value) {
        if (value instanceof Duration duration) {
            return duration.toMillis() / 1000.0;
        }
        if (value instanceof Instant time) {
            return time.toString();
        }
        return value instanceof Collection<?> values ? List.copyOf(values) : value;
    }
}
