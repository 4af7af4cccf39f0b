package io.postroom.projection;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Projection;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The read model of the tests: what each customer has ordered, kept as a summary, and every order. */
final class Sales {
    static final String NAME = "sales";

    static final String TABLES = """
            create table customer_total (
                customer   text    primary key,
                orders     bigint  not null,
                amount     numeric not null,
                updated_at timestamptz not null default clock_timestamp()
            );
            create table sale (id uuid primary key, customer text not null, amount numeric not null);
            create index sale_customer on sale (customer);
            """;

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private Sales() {}

    static void apply(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement sale = tx.prepareStatement("insert into sale (id, customer, amount) values (?, ?, ?)");
                PreparedStatement total = tx.prepareStatement("""
                        insert into customer_total as t (customer, orders, amount) values (?, 1, ?)
                        on conflict (customer) do update
                        set orders = t.orders + 1, amount = t.amount + excluded.amount, updated_at = clock_timestamp()""")) {
            for (Envelope envelope : batch) {
                JsonNode order = JSON.readTree(envelope.message().payload());
                sale.setObject(1, envelope.message().id());
                sale.setString(2, order.get("customer").asString());
                sale.setBigDecimal(3, order.get("amount").decimalValue());
                sale.addBatch();
                total.setString(1, order.get("customer").asString());
                total.setBigDecimal(2, order.get("amount").decimalValue());
                total.addBatch();
            }
            sale.executeBatch();
            total.executeBatch();
        }
    }

    static ReadModel model(Projection projection) {
        return ReadModel.named("sales")
                .tables(TABLES)
                .projection(projection)
                .freshness(Freshness.SECONDS)
                .ignore("updated_at")
                .messages(orders -> orders.aggregateTypes("order").lanes(2))
                .build();
    }

    static ReadModel model() {
        return model(Sales::apply);
    }

    static ReadModel.Builder builder() {
        return ReadModel.named(NAME)
                .tables(TABLES)
                .projection(Sales::apply)
                .freshness(Freshness.SECONDS)
                .ignore("updated_at")
                .messages(settings(2));
    }

    static UnaryOperator<Subscription.Builder> settings(int lanes) {
        return orders -> orders.aggregateTypes("order")
                .lanes(lanes)
                .retry(RetryPolicy.builder()
                        .linear(Duration.ofMillis(10))
                        .attemptsMax(3)
                        .build());
    }

    static Message order(int customer, int amount) {
        return Message.about("order", "customer-" + customer)
                .event("OrderPlaced")
                .payload("{\"customer\":\"customer-" + customer + "\",\"amount\":" + amount + "}")
                .build();
    }

    static List<Message> orders(int count) {
        List<Message> orders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            orders.add(order(i % 7, i + 1));
        }
        return orders;
    }

    static void publish(TestDatabase database, List<Message> messages) {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Says of each generation how many of its rows are not what the journal says, message by message, up to where each lane has come;
     * without what waits or was given up. Swaps wait meanwhile, so that names mean what the generations say.
     */
    static Map<Integer, Long> wrong(TestDatabase database) {
        Map<Integer, Long> wrong = new TreeMap<>();
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("select pg_advisory_xact_lock_shared(hashtextextended('\"postroom\".swap sales', 0))");
            Map<Integer, String[]> generations = new TreeMap<>();
            try (ResultSet row = statement.executeQuery(
                    "select number, schema_name, subscription from postroom.generation" + " where state <> 'asked'")) {
                while (row.next()) {
                    generations.put(row.getInt(1), new String[] {row.getString(2), row.getString(3)});
                }
            }
            for (Map.Entry<Integer, String[]> each : generations.entrySet()) {
                try (ResultSet row = statement.executeQuery(
                        FOLD.replace("SCHEMA", each.getValue()[0]).replace("SUBSCRIPTION", each.getValue()[1]))) {
                    row.next();
                    wrong.put(each.getKey(), row.getLong(1));
                }
            }
            tx.rollback();
            return wrong;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final String FOLD = """
            with told as materialized (
                select m.id, m.payload ->> 'customer' as customer, (m.payload ->> 'amount')::numeric as amount
                from postroom.subscription as s
                join (table postroom.journal union all table postroom.journal_archive) as j on j.position > s.began_after
                join postroom.lane as l on l.subscription = s.name and l.lane = j.key_hash % s.lanes and j.position <= l.position
                join (table postroom.outbox union all table postroom.outbox_archive) as m on m.seq = j.seq and m.day = j.outbox_day
                where s.name = 'SUBSCRIPTION' and m.aggregate_type = 'order'
                  and not exists (select from postroom.delivery as d where d.subscription = s.name and d.position = j.position)
                  and not exists (select from postroom.dead_letter as d where d.owner = s.name and d.position = j.position
                                  and d.resolution is null)
            )
            select (select count(*) from (select customer, count(*) as orders, sum(amount) as amount from told group by customer) as t
                    full join SCHEMA.customer_total as kept using (customer)
                    where (t.orders, t.amount) is distinct from (kept.orders, kept.amount))
                 + (select count(*) from told full join SCHEMA.sale as kept using (id)
                    where told.amount is distinct from kept.amount)
            """;
}
