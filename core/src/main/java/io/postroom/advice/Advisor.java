package io.postroom.advice;

import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.subscription.SubscriptionState;
import io.postroom.subscription.Subscriptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gives advice from live figures. Reads no more than it says, changes nothing, and needs the rights of a reader. Safe for use by many
 * threads.
 */
public final class Advisor {
    private static final int MESSAGES_MAX = 1_000;
    private static final int SETTLEMENTS_MAX = 2_000;

    private final Database database;
    private final Schema schema;
    private final Subscriptions subscriptions;
    private final Sql readRates;
    private final Sql readPayload;
    private final Sql readStorage;
    private final Sql readLoad;
    private final Sql readFlows;

    public Advisor(Database database, Subscriptions subscriptions) {
        this.database = database;
        this.schema = database.schema();
        this.subscriptions = subscriptions;
        readRates = schema.sql(Advisor.class, "read_rates.sql");
        readPayload = schema.sql(Advisor.class, "read_payload.sql");
        readStorage = schema.sql(Advisor.class, "read_storage.sql");
        readLoad = schema.sql(Advisor.class, "read_load.sql");
        readFlows = schema.sql(Advisor.class, "read_flows.sql");
    }

    /** What to do, by what is measured now and what is wanted. */
    public List<Advice> advise(Wishes wishes) {
        return advise(measure(), wishes);
    }

    /** The same by figures that were measured before. */
    public List<Advice> advise(Figures figures, Wishes wishes) {
        return new Rules(figures, wishes).advise();
    }

    private record Rates(long messages, double seconds, double peak) {}

    private record Load(int relays, int readers, double walRate) {}

    /** What the advice rests on. */
    public Figures measure() {
        List<SubscriptionState> states = subscriptions.list().stream()
                .filter(state -> !state.isDone() && state.copyOf() == null)
                .toList();
        return database.run(tx -> measure(tx, states));
    }

    private Figures measure(Connection tx, List<SubscriptionState> states) {
        Rates rates = readRates
                .on(tx)
                .one(row -> new Rates(row.getLong("messages"), row.getDouble("seconds"), row.getDouble("peak")));
        Load load = readLoad.on(tx)
                .one(row -> new Load(row.getInt("relays"), row.getInt("readers"), row.getDouble("wal_rate")));
        Flows flows = flows(tx);
        double average = rates.seconds() < 1 ? 0 : rates.messages() / rates.seconds();
        return new Figures(
                Duration.ofMillis(Math.round(rates.seconds() * 1000)),
                average,
                Math.max(average, rates.peak()),
                readPayload.on(tx).set("limit", MESSAGES_MAX).one(row -> row.getLong(1)),
                states.size() + load.readers(),
                load.relays(),
                flows.delay(),
                load.walRate(),
                storage(tx),
                states.stream()
                        .filter(state ->
                                state.pause() == null && state.servedBy().equals("postgres"))
                        .map(state -> new Figures.Flow(
                                state.name(),
                                state.lanes(),
                                state.lanesLeased(),
                                state.lag(),
                                state.lagMessages(),
                                state.unavailableSince() != null,
                                flows.rates().getOrDefault(state.name(), 0.0)))
                        .toList());
    }

    private record Flows(
            Map<String, Double> rates, @Nullable Duration delay) {}

    private Flows flows(Connection tx) {
        Map<String, Double> rates = new HashMap<>();
        Duration[] delay = new Duration[1];
        readFlows.on(tx).set("limit", SETTLEMENTS_MAX).list(row -> {
            String subscription = row.getString("subscription");
            double seconds = row.getDouble("seconds");
            if (subscription != null) {
                rates.put(subscription, row.getDouble("rate"));
            } else if (!row.wasNull()) {
                delay[0] = Duration.ofNanos(Math.max(0, Math.round(seconds * 1e9)));
            }
            return seconds;
        });
        return new Flows(rates, delay[0]);
    }

    private Figures.Storage storage(Connection tx) {
        return readStorage
                .on(tx)
                .set("schema", schema.name())
                .one(row -> new Figures.Storage(
                        row.getInt("days"),
                        row.getLong("bytes"),
                        row.getLong("largest_rows"),
                        row.getLong("largest_bytes")));
    }
}
