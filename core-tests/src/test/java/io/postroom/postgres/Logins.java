package io.postroom.postgres;

import io.postroom.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Roles that may log in to one test database. Roles belong to the whole server, so their names carry the database's. */
final class Logins implements AutoCloseable {
    private static final String PASSWORD = "a test needs none";

    private final TestDatabase database;
    private final List<String> names = new ArrayList<>();

    Logins(TestDatabase database) {
        this.database = database;
    }

    String name(String role) {
        return database.name() + "_" + role;
    }

    void create(String role) {
        database.execute("create role " + name(role) + " login password '" + PASSWORD + "'");
        names.add(name(role));
    }

    /** Roles that somebody else made, to be dropped with the rest. */
    void adopt(String... roles) {
        names.addAll(List.of(roles));
    }

    DataSource as(String role) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(database.url().replaceAll("(?<=[?&])(user|password)=[^&]*", ""));
        dataSource.setUser(name(role));
        dataSource.setPassword(PASSWORD);
        return dataSource;
    }

    @Override
    public void close() {
        // In reverse: a login is a member of what was made before it.
        for (int i = names.size() - 1; i >= 0; i--) {
            database.execute("drop owned by " + names.get(i) + " cascade", "drop role " + names.get(i));
        }
    }
}
