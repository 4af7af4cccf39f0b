package io.postroom.doctor;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Session;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashSet;
import java.util.Set;
import org.postgresql.PGConnection;

/** What lies between this process and the server: a pooler, and the time. */
final class SessionChecks {
    static final Duration SKEW_MAX = Duration.ofSeconds(1);
    static final Duration SKEW_FAR = Duration.ofMinutes(1);
    private static final int ROUNDS = 3;

    private final Database database;
    private final Clock clock;
    private final Notes notes;
    private final Sql readSession;

    SessionChecks(Schema schema, Database database, Clock clock, Notes notes) {
        this.database = database;
        this.clock = clock;
        this.notes = notes;
        readSession = schema.sql(SessionChecks.class, "read_session.sql");
    }

    private record Answer(int pid, Instant now) {}

    private Answer ask(Connection tx) {
        return readSession
                .on(tx)
                .one(row -> new Answer(
                        row.getInt("pid"),
                        row.getObject("now", OffsetDateTime.class).toInstant()));
    }

    /**
     * Two connections that are answered by one session, or one by several, show a pooler of transactions. One of sessions is told by the
     * number that the server gave when the connection began, and harms nobody.
     */
    void pooler() {
        try (Session first = database.open(Database.ANSWER_WITHIN);
                Session second = database.open(Database.ANSWER_WITHIN)) {
            int told = first.connection().unwrap(PGConnection.class).getBackendPID();
            Set<Integer> ofFirst = new HashSet<>();
            Set<Integer> ofSecond = new HashSet<>();
            for (int i = 0; i < ROUNDS; i++) {
                ofFirst.add(ask(first.connection()).pid());
                ofSecond.add(ask(second.connection()).pid());
            }
            boolean shared = ofFirst.stream().anyMatch(ofSecond::contains);
            if (shared || ofFirst.size() > 1 || ofSecond.size() > 1) {
                notes.add(Finding.warning(
                        Check.POOLER,
                        "transactions of one connection run in sessions of others: " + ofFirst.size()
                                + " sessions answered one"
                                + " connection" + (shared ? ", and one of them another too" : "")
                                + (ofFirst.contains(told) ? "" : "; the server did not open it itself"),
                        "let relays connect to the server itself; behind a pooler of transactions they hear no notifications, and the driver must"
                                + " prepare nothing (prepareThreshold=0) unless the pooler knows prepared statements",
                        Fix.NONE));
            }
        } catch (SQLException e) {
            notes.unchecked(Check.POOLER, "the connection is none of PostgreSQL's driver", "");
        } catch (DatabaseException e) {
            notes.unchecked(Check.POOLER, "two connections at once could not be had: " + e.getMessage(), "");
        }
    }

    /** The shortest of some answers tells the most: half of its way is all that can be wrong. */
    void clock(Connection tx) {
        Duration best = null;
        Duration skew = Duration.ZERO;
        for (int i = 0; i < ROUNDS; i++) {
            Instant before = clock.instant();
            Instant there = ask(tx).now();
            Duration way = Duration.between(before, clock.instant());
            if (way.isNegative()) {
                notes.unchecked(Check.CLOCK, "the clock of this process went back meanwhile", "");
                return;
            }
            if (best == null || way.compareTo(best) < 0) {
                best = way;
                skew = Duration.between(before.plus(way.dividedBy(2)), there);
            }
        }
        Duration unsure = best == null ? Duration.ZERO : best.dividedBy(2);
        if (skew.abs().minus(unsure).compareTo(SKEW_MAX) > 0) {
            notes.add(new Finding(
                    Check.CLOCK,
                    skew.abs().compareTo(SKEW_FAR) > 0 ? Severity.ERROR : Severity.WARNING,
                    "the database's clock is " + skew.abs().toMillis() + " ms "
                            + (skew.isNegative() ? "behind" : "ahead of") + " this one, give or take "
                            + unsure.toMillis() + " ms, the limit is " + SKEW_MAX.toMillis() + " ms",
                    "run a time service that slews, such as chrony, on both machines",
                    Fix.NONE));
        }
    }
}
