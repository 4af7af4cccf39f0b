package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server in recovery: everything that writes says so and changes nothing. */
class StandbyTest {

    @Test
    void isRefusedByWhateverWrites(@TempDir Path folder) throws IOException, SQLException {
        Path data = folder.resolve("data");
        try (EmbeddedPostgres primary = server(data)) {
            Postroom.on(primary.getPostgresDatabase()).migrations().migrate();
        }
        Files.createFile(data.resolve("standby.signal"));
        try (EmbeddedPostgres standby = server(data);
                Connection tx = standby.getPostgresDatabase().getConnection()) {
            Postroom postroom = Postroom.on(standby.getPostgresDatabase());
            postroom.migrations().validate();
            assertThatThrownBy(() -> postroom.migrations().migrate())
                    .hasMessageContaining("standby")
                    .extracting("code")
                    .isEqualTo("postgres.read-only");

            tx.setAutoCommit(false);
            assertThatThrownBy(() -> postroom.outbox().publish(tx, Messages.sample()))
                    .hasMessageContaining("standby")
                    .extracting("code")
                    .isEqualTo("outbox.read-only");
            tx.rollback();

            assertThatThrownBy(() -> postroom.journal().stamp())
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            e -> assertThat(e.sqlState()).isEqualTo(SqlState.READ_ONLY_TRANSACTION));
            try (Relay relay = postroom.relay()
                    .handle(Subscription.named("all").build(), envelope -> {})
                    .build()) {
                assertThatThrownBy(relay::start)
                        .isInstanceOfSatisfying(
                                DatabaseException.class,
                                e -> assertThat(e.sqlState()).isEqualTo(SqlState.READ_ONLY_TRANSACTION));
            }
        }
    }

    private static EmbeddedPostgres server(Path data) throws IOException {
        return EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .start();
    }
}
