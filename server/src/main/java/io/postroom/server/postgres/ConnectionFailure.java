package io.postroom.server.postgres;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import javax.net.ssl.SSLException;

/** Says in one sentence why a database could not be reached, told by SQLSTATE and by the exception's cause. */
final class ConnectionFailure {
    private static final String INVALID_PASSWORD = "28P01";
    private static final String INVALID_AUTHORIZATION = "28000";
    private static final String REJECTED_BY_SERVER = "08004";
    private static final String UNKNOWN_DATABASE = "3D000";
    private static final String INVALID_PARAMETER = "22023";
    private static final String UNABLE = "08001";
    private static final String TOO_MANY_CONNECTIONS = "53300";
    private static final String STARTING_OR_STOPPING = "57P";

    private ConnectionFailure() {}

    static CommandException explain(DatabaseUrl url, SQLException e) {
        if (INVALID_PARAMETER.equals(e.getSQLState()) || UNABLE.equals(e.getSQLState()) && isOfParameter(url, e)) {
            return new CommandException(
                    ExitCode.USAGE,
                    "could not read " + url.origin() + ": the driver does not take the value of " + parameter(url, e)
                            + "; correct it or leave it out",
                    e);
        }
        return new CommandException(ExitCode.FAILURE, "could not connect to " + url + ": " + fact(url, e), e);
    }

    private static String fact(DatabaseUrl url, SQLException e) {
        if (cause(e, UnknownHostException.class).isPresent()) {
            return "there is no host " + String.join(" or ", url.hosts()) + "; check the name in " + url.origin();
        }
        if (cause(e, SocketTimeoutException.class).isPresent()) {
            return "no answer in time; check the address and that no firewall is in between";
        }
        if (cause(e, NoRouteToHostException.class).isPresent()) {
            return "no network leads there; check the address";
        }
        if (cause(e, ConnectException.class).isPresent()) {
            return "nothing listens on that port; check host and port, and that PostgreSQL runs there";
        }
        if (cause(e, SSLException.class).isPresent()) {
            return "TLS failed; check sslmode and sslrootcert";
        }
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String user = url.user() == null ? "the user" : "user " + url.user();
        if (state.equals(INVALID_PASSWORD)) {
            return "the password of " + user + " is wrong; set PGPASSWORD or keep it in ~/.pgpass";
        }
        if (state.equals(REJECTED_BY_SERVER) && url.parameters().containsKey("sslmode")) {
            return "the server offers no TLS as sslmode asks for, or wants a password; change sslmode, or set PGPASSWORD";
        }
        if (state.equals(REJECTED_BY_SERVER) && url.password() == null) {
            return "a password is needed for " + user + "; set PGPASSWORD or keep it in ~/.pgpass";
        }
        if (state.equals(INVALID_AUTHORIZATION) || state.equals(REJECTED_BY_SERVER)) {
            return user + " may not log in from here; check the name, and pg_hba.conf on the server";
        }
        if (state.equals(UNKNOWN_DATABASE)) {
            return "there is no database " + (url.database() == null ? "of that name" : url.database())
                    + "; create it, or correct the name in " + url.origin();
        }
        if (state.equals(TOO_MANY_CONNECTIONS)) {
            return "the server has no connection left; try again, or raise max_connections";
        }
        if (state.startsWith(STARTING_OR_STOPPING)) {
            return "the server is starting or stopping; try again";
        }
        return "the driver said " + e.getClass().getSimpleName() + (state.isEmpty() ? "" : " [" + state + "]")
                + "; run again with --verbose to see why";
    }

    /** Of some values the driver says that it could not connect. */
    private static boolean isOfParameter(DatabaseUrl url, SQLException e) {
        return e.getCause() == null && parameter(url, e).startsWith("parameter ");
    }

    /** The driver names it, and its value, which may be a secret. */
    private static String parameter(DatabaseUrl url, SQLException e) {
        String said = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        return url.parameters().keySet().stream()
                .filter(name -> said.contains(name.toLowerCase(Locale.ROOT)))
                .findFirst()
                .map(name -> "parameter " + name + (name.equals("sslmode") ? " or of PGSSLMODE" : ""))
                .orElse("one of the parameters "
                        + new TreeSet<>(url.parameters().keySet()));
    }

    private static <T extends Throwable> Optional<T> cause(Throwable e, Class<T> type) {
        for (Throwable each = e; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return Optional.of(type.cast(each));
            }
        }
        return Optional.empty();
    }
}
