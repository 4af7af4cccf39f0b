package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The server, and who asks it.
 *
 * @param readsStats whether the login sees what sessions of others do
 */
record Server(
        int version,
        String versionShown,
        String encoding,
        boolean isStandby,
        Instant now,
        String database,
        Login login) {

    /** Who asks. */
    record Login(String name, boolean isSuperuser, boolean bypassesPolicies, boolean readsStats) {}

    /**
     * A setting.
     *
     * @param source who set it: {@code configuration file}, {@code database}, {@code user}, {@code session} and so on
     */
    record Setting(String name, String value, long bytes, String source, boolean isPendingRestart) {
        boolean isOff() {
            return value.equals("off");
        }

        /** Sets it for the whole server, at once. */
        Fix set(String value) {
            return isOnCommandLine() ? Fix.NONE : Fix.of(Fix.Risk.HARMLESS, alter(value), "select pg_reload_conf()");
        }

        /** For the whole server, if it has the memory. */
        Fix setIfThereIsRoom(String value) {
            return isOnCommandLine() ? Fix.NONE : Fix.of(Fix.Risk.DECISION, alter(value), "select pg_reload_conf()");
        }

        Fix setAtRestart(String value) {
            return isOnCommandLine() ? Fix.NONE : Fix.of(Fix.Risk.RESTART, alter(value));
        }

        private String alter(String value) {
            return "alter system set " + name + " = " + Names.literal(value);
        }

        /** No SQL changes what the server was started with. */
        private boolean isOnCommandLine() {
            return source.equals("command line");
        }

        String advice(String advice) {
            return isOnCommandLine()
                    ? advice + "; it stands on the server's command line, where no SQL reaches"
                    : advice;
        }

        /** Whether it holds for this session alone, or for its role or database, which {@link Override}s tell. */
        boolean isLocal() {
            return List.of("session", "client", "interactive", "user", "database", "database user")
                    .contains(source);
        }
    }

    /** A setting that holds for a role, for the database, or for a role in the database. */
    record Override(@Nullable String role, @Nullable String database, String name, String value) {
        String whose() {
            return (role == null ? "" : "role " + role)
                    + (role != null && database != null ? " in " : "")
                    + (database == null ? "" : "database " + database);
        }

        /** Takes it back. */
        String reset() {
            String which = role == null
                    ? "alter database " + Names.quoted(String.valueOf(database))
                    : "alter role " + Names.quoted(role)
                            + (database == null ? "" : " in database " + Names.quoted(database));
            return which + " reset " + name;
        }
    }

    static Server read(Connection tx, Sql sql) {
        return sql.on(tx)
                .one(row -> new Server(
                        row.getInt("version"),
                        row.getString("version_shown"),
                        row.getString("encoding"),
                        row.getBoolean("standby"),
                        row.getObject("now", OffsetDateTime.class).toInstant(),
                        row.getString("database"),
                        new Login(
                                row.getString("login"),
                                row.getBoolean("rolsuper"),
                                row.getBoolean("rolbypassrls"),
                                row.getBoolean("reads_stats"))));
    }

    /** The settings of one server: one method per statement. */
    static final class Settings {
        private final Sql readSettings;
        private final Sql listOverrides;

        Settings(Schema schema) {
            readSettings = schema.sql(Server.class, "read_settings.sql");
            listOverrides = schema.sql(Server.class, "list_overrides.sql");
        }

        Map<String, Setting> read(Connection tx, String... names) {
            Map<String, Setting> settings = new LinkedHashMap<>();
            readSettings
                    .on(tx)
                    .set("names", names)
                    .list(row -> new Setting(
                            row.getString("name"),
                            row.getString("setting"),
                            row.getLong("bytes"),
                            row.getString("source"),
                            row.getBoolean("pending_restart")))
                    .forEach(setting -> settings.put(setting.name(), setting));
            return settings;
        }

        List<Override> overrides(Connection tx, String... names) {
            return listOverrides
                    .on(tx)
                    .set("names", names)
                    .list(row -> new Override(
                            row.getString("role"),
                            row.getString("database"),
                            row.getString("name"),
                            row.getString("setting")));
        }
    }
}
