package io.postroom.projection;

import io.postroom.PostroomException;
import io.postroom.relay.Projection;
import io.postroom.relay.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tables that a projection keeps, and that can be made anew beside those in use and take their place. Its name is the schema in which
 * readers find them.
 *
 * <p>The SQL of its tables and of its projection uses plain names; the relay sees to it that they mean the tables of one generation.
 * Whoever changes the tables gives them another version: a relay serves the generations of the versions it was given, so that both the
 * old tables and the new ones are kept up to date while one takes the other's place. Safe for use by many threads if the projection is.
 */
public final class ReadModel {
    public static final int TABLES_LENGTH_MAX = 1_000_000;
    public static final int VERSION_MAX = 1_000_000;
    public static final Duration AGE_LIMIT_MIN = Duration.ofMillis(1);
    public static final Duration AGE_LIMIT_MAX = Duration.ofDays(31);

    private static final Pattern NAME = Pattern.compile("(?!pg_)[a-z][a-z0-9_]{0,49}");
    private static final Pattern ROLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_$-]{0,62}");

    private final String name;
    private final int version;
    private final String tables;
    private final Projection projection;
    private final Freshness freshness;
    private final Duration ageMax;
    private final Set<String> ignored;
    private final Set<String> readers;
    private final UnaryOperator<Subscription.Builder> messages;

    private ReadModel(Builder builder, String tables, Projection projection, Freshness freshness, Duration ageMax) {
        this.name = builder.name;
        this.version = builder.version;
        this.tables = tables;
        this.projection = projection;
        this.freshness = freshness;
        this.ageMax = ageMax;
        this.ignored = Set.copyOf(builder.ignored);
        this.readers = Set.copyOf(builder.readers);
        this.messages = builder.messages;
    }

    public static Builder named(String name) {
        return new Builder(name);
    }

    public String name() {
        return name;
    }

    public int version() {
        return version;
    }

    String tables() {
        return tables;
    }

    Projection projection() {
        return projection;
    }

    Freshness freshness() {
        return freshness;
    }

    Duration ageMax() {
        return ageMax;
    }

    Set<String> ignored() {
        return ignored;
    }

    Set<String> readers() {
        return readers;
    }

    /** The subscription of one of its generations. */
    Subscription subscription(int generation) {
        return messages.apply(Subscription.named(name + ".g" + generation)).build();
    }

    /** Collects a read model; {@link #build} reports every problem at once. */
    public static final class Builder {
        private final String name;
        private int version = 1;
        private @Nullable String tables;
        private @Nullable Projection projection;
        private @Nullable Freshness freshness;
        private @Nullable Duration ageMax;
        private final Set<String> ignored = new TreeSet<>();
        private final Set<String> readers = new TreeSet<>();
        private UnaryOperator<Subscription.Builder> messages = UnaryOperator.identity();

        private Builder(String name) {
            this.name = name;
        }

        /** Grows whenever the tables change; 1 unless given. */
        public Builder version(int version) {
            this.version = version;
            return this;
        }

        /** The SQL that makes its tables, indexes and views, with plain names. Runs in one transaction. */
        public Builder tables(String sql) {
            this.tables = sql;
            return this;
        }

        /** What keeps them, with plain names too. */
        public Builder projection(Projection projection) {
            this.projection = projection;
            return this;
        }

        public Builder freshness(Freshness freshness) {
            this.freshness = freshness;
            return this;
        }

        /** Another limit than the freshness has by itself. */
        public Builder ageMax(Duration ageMax) {
            this.ageMax = ageMax;
            return this;
        }

        /**
         * Columns that may differ between generations, such as when a row was written: comparisons leave them out. As {@code column}, in
         * every table, or as {@code table.column}.
         */
        public Builder ignore(String... columns) {
            ignored.addAll(List.of(columns));
            return this;
        }

        /** Roles that may read the tables, of each generation that is made from now on. */
        public Builder readers(String... roles) {
            readers.addAll(List.of(roles));
            return this;
        }

        /** Which messages it gets and how: everything that a subscription has but the name. */
        public Builder messages(UnaryOperator<Subscription.Builder> messages) {
            this.messages = messages;
            return this;
        }

        public ReadModel build() {
            List<String> problems = new ArrayList<>();
            check(
                    problems,
                    NAME.matcher(name).matches(),
                    "name is '" + name
                            + "', it must be 1 to 50 lower-case letters, digits or _, beginning with a letter"
                            + " and not with pg_");
            check(
                    problems,
                    version >= 1 && version <= VERSION_MAX,
                    "version is " + version + ", the range is 1 to " + VERSION_MAX);
            String sql = tables == null ? "" : tables;
            check(
                    problems,
                    !sql.isBlank() && sql.length() <= TABLES_LENGTH_MAX,
                    "tables is " + (sql.isBlank() ? "empty" : sql.length() + " characters") + ", the range is 1 to "
                            + TABLES_LENGTH_MAX);
            check(problems, projection != null, "there is no projection");
            check(
                    problems,
                    projection == null || !projection.isBehindInbox(),
                    "its projection is behind an inbox, which would let nothing through that another generation has applied;"
                            + " leave the inbox out, a generation applies each message once anyway");
            check(problems, freshness != null, "there is no freshness; say how old what it shows may be");
            Freshness declared = freshness == null ? Freshness.DAILY : freshness;
            Duration limit = ageMax == null ? declared.ageMax() : ageMax;
            check(
                    problems,
                    limit.compareTo(AGE_LIMIT_MIN) >= 0 && limit.compareTo(AGE_LIMIT_MAX) <= 0,
                    "age max is " + limit + ", the range is 1 ms to 31 days");
            readers.stream()
                    .filter(role -> !ROLE.matcher(role).matches())
                    .forEach(role -> problems.add("reader is '" + role
                            + "', a role is 1 to 63 letters, digits or _ $ -, not beginning with a digit"));
            checkMessages(problems);
            if (!problems.isEmpty() || projection == null) {
                throw new PostroomException(
                        "projection.invalid", "could not make read model " + name + ": " + String.join("; ", problems));
            }
            return new ReadModel(this, sql, projection, declared, limit);
        }

        private void checkMessages(List<String> problems) {
            try {
                messages.apply(Subscription.named("model.g1")).build();
            } catch (PostroomException e) {
                problems.add(e.getMessage());
            }
        }

        private static void check(List<String> problems, boolean holds, String problem) {
            if (!holds) {
                problems.add(problem);
            }
        }
    }
}
