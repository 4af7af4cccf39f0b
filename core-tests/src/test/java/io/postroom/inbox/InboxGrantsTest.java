package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give, and those on the application's own tables. */
class InboxGrantsTest {
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
    void aRelayRunsAProjectionBehindAnInbox() throws SQLException {
        database.execute(
                "create table public.applied (id uuid primary key)",
                "grant insert on public.applied to " + grants.relay());
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.sequence("a", 20));
            tx.commit();
        }
        Projection projection = (tx, batch) -> {
            try (PreparedStatement insert = tx.prepareStatement("insert into public.applied values (?)")) {
                for (var envelope : batch) {
                    insert.setObject(1, envelope.message().id());
                    insert.addBatch();
                }
                insert.executeBatch();
            }
        };
        try (HikariDataSource relays = as(grants.relay())) {
            Postroom postroom = Postroom.on(relays);
            postroom.inbox()
                    .declare("billing", Retention.keep(Duration.ofDays(9)).redeliveredWithin(Duration.ofDays(8)));
            try (Relay relay = postroom.relay()
                    .project(Subscription.named("billing").build(), projection.behind(postroom.inbox(), "billing"))
                    .build()) {
                relay.runOnce();
            }
        }
        assertThat(database.queryLong("select count(*) from public.applied")).isEqualTo(20);
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isEqualTo(20);
        assertThat(database.queryLong("select count(*) from postroom.attempt"))
                .as("counted against nobody")
                .isZero();
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
