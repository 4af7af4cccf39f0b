package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.relay.Relay;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give, and the two that they leave to whoever wants read models. */
class ReadModelGrantsTest {
    private static final Act ACT = new Act("tester", "to see what happens");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private TestDatabase database;
    private Grants grants;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        grants = Grants.of(new Schema(database.name()));
        database.execute(grants.print(Schema.POSTROOM));
    }

    @AfterEach
    void drop() {
        for (String role : grants.roles()) {
            database.execute("drop owned by " + role + " cascade");
        }
        for (String role : grants.roles()) {
            database.execute("drop role " + role);
        }
        database.close();
    }

    @Test
    void aRelayMakesThemAndAnOperatorWhoIsAMemberOfItActsOnThem() {
        try (HikariDataSource relays = as(grants.relay());
                HikariDataSource operators = as(grants.operator());
                HikariDataSource writers = as(grants.writer())) {
            Postroom relayed = Postroom.on(relays);
            assertThatThrownBy(() -> once(relayed))
                    .hasMessageContaining("a relay that serves read models needs: grant create on database")
                    .extracting("code")
                    .isEqualTo("projection.not-allowed");
            database.execute("grant create on database " + database.name() + " to " + grants.relay());
            Sales.publish(database, Sales.orders(10));
            once(relayed);

            ReadModels operator = Postroom.on(operators).readModels();
            operator.rebuild("sales", Point.beginning(), ACT);
            once(relayed);
            assertThatThrownBy(() -> operator.swap("sales", null, false, ACT))
                    .hasMessageContaining(
                            "schema sales belongs to role " + grants.relay() + ", this is " + grants.operator())
                    .extracting("code")
                    .isEqualTo("projection.not-owner");
            database.execute("grant " + grants.relay() + " to " + grants.operator());
            try (Relay relay = relay(relayed)) {
                relay.start();
                assertThat(operator.compare("sales", null, 5, PATIENCE).isSame())
                        .isTrue();
                operator.swap("sales", null, false, ACT);
                operator.rollback("sales", false, ACT);
                operator.retire("sales", 2, ACT, PATIENCE);
            }
            assertThat(Postroom.on(writers).readModels().age("sales").isFresh())
                    .as("whoever writes may ask how fresh it is")
                    .isTrue();
        }
    }

    private static void once(Postroom postroom) {
        try (Relay relay = relay(postroom)) {
            relay.runOnce();
        }
    }

    private static Relay relay(Postroom postroom) {
        return postroom.relay()
                .lease(Duration.ofMillis(1_500))
                .serve(postroom.readModels().roster(Sales.model()))
                .build();
    }

    private HikariDataSource as(String role) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(10);
        config.setMinimumIdle(0);
        config.setConnectionInitSql("set role " + role);
        return new HikariDataSource(config);
    }
}
