package io.postroom.postgres;

import io.postroom.PostroomException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * PostgreSQL said no, or did not answer. Carries the SQLSTATE; the text is the server's own sentence without its detail, which
 * may quote values.
 */
public final class DatabaseException extends PostroomException {
    private static final long serialVersionUID = 1L;

    private final String sqlState;

    private DatabaseException(String code, String message, String sqlState, @Nullable Throwable cause) {
        super(code, message, cause);
        this.sqlState = sqlState;
    }

    /** Translates what the driver threw while doing what {@code attempt} says, for example {@code settle lane 3}. */
    public static DatabaseException of(String attempt, SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        boolean unreachable = SqlState.isUnreachable(state);
        String fact = unreachable
                ? "PostgreSQL cannot be reached (" + sentence(e) + "); check that it runs and can be reached from here"
                : "PostgreSQL answered " + sentence(e) + (state.isEmpty() ? "" : " [" + state + "]") + remedy(state);
        return new DatabaseException(
                unreachable ? "postgres.unreachable" : "postgres.refused",
                "could not " + attempt + ": " + fact,
                state,
                e);
    }

    /** The five characters PostgreSQL gave, or an empty string if it gave none. */
    public String sqlState() {
        return sqlState;
    }

    /** PostgreSQL's own sentence. */
    public String said() {
        return getCause() instanceof PSQLException answer && answer.getServerErrorMessage() != null
                ? String.valueOf(answer.getServerErrorMessage().getMessage())
                : getMessage();
    }

    /** Whether the connection, not the statement, is at fault. */
    public boolean isUnreachable() {
        return SqlState.isUnreachable(sqlState);
    }

    /** What to do about what operators meet: the wrong login, the wrong server. */
    private static String remedy(String state) {
        return switch (state) {
            case SqlState.INSUFFICIENT_PRIVILEGE ->
                "; this login may not: connect as another, or grant it what postroom schema grants prints";
            case SqlState.READ_ONLY_TRANSACTION -> "; this server or session only reads: connect to the primary";
            default -> "";
        };
    }

    private static String sentence(SQLException e) {
        if (e instanceof PSQLException answer) {
            ServerErrorMessage server = answer.getServerErrorMessage();
            if (server != null && server.getMessage() != null) {
                return "'" + server.getMessage() + "'";
            }
        }
        String text = String.valueOf(e.getMessage());
        int end = text.indexOf('\n');
        return "'" + (end < 0 ? text : text.substring(0, end)) + "'";
    }
}
