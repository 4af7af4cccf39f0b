package io.postroom.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One run of a {@link Sql} statement: set its parameters by name, run it once, and it is closed. For one thread. */
public final class Call {
    private final Sql sql;
    private final Connection tx;
    private final PreparedStatement statement;

    Call(Sql sql, Connection tx, PreparedStatement statement) {
        this.sql = sql;
        this.tx = tx;
        this.statement = statement;
    }

    /** Reads one row. */
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    @FunctionalInterface
    private interface Setter {
        void at(int index) throws SQLException;
    }

    public Call set(String name, @Nullable String value) {
        return each(name, i -> statement.setString(i, value));
    }

    public Call set(String name, long value) {
        return each(name, i -> statement.setLong(i, value));
    }

    public Call set(String name, int value) {
        return each(name, i -> statement.setInt(i, value));
    }

    public Call set(String name, byte @Nullable [] value) {
        return each(name, i -> statement.setBytes(i, value));
    }

    public Call set(String name, @Nullable Long value) {
        return each(name, i -> statement.setObject(i, value, Types.BIGINT));
    }

    public Call set(String name, @Nullable UUID value) {
        return each(name, i -> statement.setObject(i, value, Types.OTHER));
    }

    public Call set(String name, LocalDate value) {
        return each(name, i -> statement.setObject(i, value));
    }

    public Call set(String name, @Nullable Instant value) {
        OffsetDateTime time = value == null ? null : value.atOffset(ZoneOffset.UTC);
        return each(name, i -> statement.setObject(i, time, Types.TIMESTAMP_WITH_TIMEZONE));
    }

    /** A duration as seconds, for {@code make_interval(secs => :name)}. */
    public Call set(String name, Duration value) {
        double seconds = value.toNanos() / 1e9;
        return each(name, i -> statement.setDouble(i, seconds));
    }

    public Call set(String name, @Nullable String @Nullable [] values) {
        return array(name, "text", values);
    }

    public Call set(String name, UUID[] values) {
        return array(name, "uuid", values);
    }

    public Call set(String name, @Nullable Long[] values) {
        return array(name, "int8", values);
    }

    public Call set(String name, Integer[] values) {
        return array(name, "int4", values);
    }

    public Call set(String name, byte[][] values) {
        return array(name, "bytea", values);
    }

    public Call set(String name, long[] values) {
        return array(name, "int8", values);
    }

    /** Every row, in the order of the result. */
    public <T> List<T> list(Row<T> row) {
        try (statement;
                ResultSet result = statement.executeQuery()) {
            List<T> rows = new ArrayList<>();
            while (result.next()) {
                rows.add(row.read(result));
            }
            return rows;
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /** The first row, if there is one. */
    public <T> Optional<T> first(Row<T> row) {
        try (statement;
                ResultSet result = statement.executeQuery()) {
            return result.next() ? Optional.of(row.read(result)) : Optional.empty();
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /** The one row that the statement always has. */
    public <T> T one(Row<T> row) {
        return first(row).orElseThrow(() -> new IllegalStateException(sql.name() + " returned no row"));
    }

    /** What two statements in one round trip have answered. */
    public record Both<A, B>(A one, @Nullable B first) {}

    /** Of two statements that are one: the row that the first always has, and the first of the second's, if there is one. */
    public <A, B> Both<A, B> both(Row<A> one, Row<B> first) {
        try (statement) {
            statement.execute();
            A answer;
            try (ResultSet result = statement.getResultSet()) {
                if (!result.next()) {
                    throw new IllegalStateException(sql.name() + " returned no row");
                }
                answer = one.read(result);
            }
            statement.getMoreResults();
            try (ResultSet result = statement.getResultSet()) {
                return new Both<>(answer, result.next() ? first.read(result) : null);
            }
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    /** How many rows were changed. */
    public int update() {
        try (statement) {
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private Call array(String name, String type, @Nullable Object values) {
        try {
            return setArray(name, type, values);
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private Call setArray(String name, String type, @Nullable Object values) throws SQLException {
        if (values == null) {
            return each(name, i -> statement.setNull(i, Types.ARRAY));
        }
        java.sql.Array array = tx.unwrap(org.postgresql.PGConnection.class).createArrayOf(type, values);
        return each(name, i -> statement.setArray(i, array));
    }

    private Call each(String name, Setter setter) {
        try {
            for (int index : sql.indexesOf(name)) {
                setter.at(index);
            }
            return this;
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private DatabaseException failed(SQLException e) {
        return DatabaseException.of("run " + sql.name(), e);
    }
}
