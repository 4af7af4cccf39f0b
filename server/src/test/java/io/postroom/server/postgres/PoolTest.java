package io.postroom.server.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PoolTest {
    private static String setting(HikariDataSource pool, String name) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("show " + name)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void nothingThatIsAskedForByPeopleTakesForEver() throws SQLException {
        try (TestDatabase database = TestDatabase.create();
                HikariDataSource reading = Connections.reading(database.dataSource(), 1, Duration.ofSeconds(2));
                HikariDataSource acting =
                        Connections.acting(database.dataSource(), 1, Duration.ofSeconds(30), Duration.ofSeconds(5))) {
            assertThat(setting(reading, "statement_timeout")).isEqualTo("2s");
            assertThat(setting(reading, "default_transaction_read_only")).isEqualTo("on");
            assertThat(setting(reading, "plan_cache_mode")).isEqualTo("force_custom_plan");
            assertThat(setting(acting, "statement_timeout")).isEqualTo("30s");
            assertThat(setting(acting, "lock_timeout")).isEqualTo("5s");
        }
    }
}
