package io.postroom.server.postgres;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which database, as which user, with which settings of the driver: read from a URL or from the environment.
 *
 * <p>{@link #toString} shows neither password nor parameters. Errors repeat nothing that could be a part of a password.
 */
public final class DatabaseUrl {
    private static final String FORMS =
            "write postgres://user@host:5432/database or jdbc:postgresql://host:5432/database";
    private static final String PORT_DEFAULT = "5432";

    private final String origin;
    private final List<String> hosts;
    private final List<Integer> ports;
    private final @Nullable String database;
    private final @Nullable String user;
    private final @Nullable String password;
    private final Map<String, String> parameters;

    private DatabaseUrl(Reading reading, Map<String, String> environment) {
        this.origin = reading.origin;
        this.user = orElse(reading.user, environment.get("PGUSER"));
        this.password = orElse(reading.password, environment.get("PGPASSWORD"));
        this.database = orElse(reading.database, environment.get("PGDATABASE"));
        String port = orElse(environment.get("PGPORT"), PORT_DEFAULT);
        List<String> hosts = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        for (String place : reading.places.isEmpty() ? List.of("") : reading.places) {
            int colon = place.endsWith("]") ? -1 : place.lastIndexOf(':');
            String host = colon < 0 ? place : place.substring(0, colon);
            // What is wrong is said of whichever it came from.
            hosts.add(
                    host.isEmpty()
                            ? new Reading("PGHOST").host(orElse(environment.get("PGHOST"), "localhost"))
                            : reading.host(host));
            ports.add(
                    colon < 0 || colon == place.length() - 1
                            ? new Reading("PGPORT").port(port)
                            : reading.port(place.substring(colon + 1)));
        }
        this.hosts = List.copyOf(hosts);
        this.ports = List.copyOf(ports);
        Map<String, String> parameters = new LinkedHashMap<>();
        String sslMode = environment.get("PGSSLMODE");
        if (sslMode != null && !sslMode.isEmpty()) {
            parameters.put("sslmode", sslMode);
        }
        parameters.putAll(reading.parameters);
        this.parameters = Map.copyOf(parameters);
    }

    /** The database that the first of these names: the option, POSTROOM_URL, DATABASE_URL, PGHOST and the like. */
    public static DatabaseUrl find(@Nullable String option, Map<String, String> environment) {
        if (option != null) {
            return parse("--url", option, environment);
        }
        for (String name : List.of("POSTROOM_URL", "DATABASE_URL")) {
            String url = environment.getOrDefault(name, "");
            if (!url.isBlank()) {
                return parse(name, url, environment);
            }
        }
        if (List.of("PGHOST", "PGDATABASE", "PGUSER", "PGPORT").stream()
                .allMatch(name -> environment.get(name) == null)) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not connect: no database is named; give --url postgres://user@host:5432/database, or set"
                            + " POSTROOM_URL, DATABASE_URL or PGHOST, PGPORT, PGUSER and PGDATABASE");
        }
        return new DatabaseUrl(new Reading("PGHOST"), environment);
    }

    /** Reads a URL that came from the named place; what it leaves out comes from the PG variables, as with libpq. */
    public static DatabaseUrl parse(String origin, String url, Map<String, String> environment) {
        Reading reading = new Reading(origin);
        reading.read(url.strip());
        return new DatabaseUrl(reading, environment);
    }

    /** Takes a URL apart. */
    private static final class Reading {
        private final String origin;
        private final List<String> places = new ArrayList<>();
        private final Map<String, String> parameters = new LinkedHashMap<>();
        private boolean plusIsSpace;
        private @Nullable String database;
        private @Nullable String user;
        private @Nullable String password;

        Reading(String origin) {
            this.origin = origin;
        }

        void read(String url) {
            String lower = url.toLowerCase(Locale.ROOT);
            if (lower.startsWith("jdbc:postgresql:")) {
                // The driver reads a plus in a JDBC URL's parameters as a space.
                plusIsSpace = true;
                String rest = url.substring("jdbc:postgresql:".length());
                readRest(rest.startsWith("/") ? rest : "///" + rest);
            } else if (lower.startsWith("postgres:") || lower.startsWith("postgresql:")) {
                readRest(url.substring(url.indexOf(':') + 1));
            } else {
                throw malformed("it is not a PostgreSQL URL; " + FORMS);
            }
        }

        private void readRest(String rest) {
            int query = rest.indexOf('?');
            String path = query < 0 ? rest : rest.substring(0, query);
            if (path.startsWith("//")) {
                int slash = path.indexOf('/', 2);
                readAuthority(slash < 0 ? path.substring(2) : path.substring(2, slash));
                path = slash < 0 ? "" : path.substring(slash);
            } else if (!path.equals("/")) {
                throw malformed("two slashes must follow the first colon; " + FORMS);
            }
            String name = path.isEmpty() ? "" : path.substring(1);
            if (name.contains("/")) {
                throw malformed(
                        "there is more than one part after the host; write a slash in a name or password as %2F");
            }
            database = name.isEmpty() ? null : decode(name, false);
            if (query >= 0) {
                readParameters(rest.substring(query + 1));
            }
        }

        private void readAuthority(String authority) {
            int at = authority.lastIndexOf('@');
            if (at >= 0) {
                String[] login = authority.substring(0, at).split(":", 2);
                user = login[0].isEmpty() ? null : decode(login[0], false);
                password = login.length == 1 ? null : decode(login[1], false);
            }
            String hosts = authority.substring(at + 1);
            if (!hosts.isEmpty()) {
                for (String host : hosts.split(",", -1)) {
                    places.add(decode(host, false));
                }
            }
        }

        private void readParameters(String query) {
            for (String pair : query.split("&")) {
                if (pair.isEmpty()) {
                    continue;
                }
                int equals = pair.indexOf('=');
                if (equals < 0) {
                    throw malformed("a parameter has no value; write name=value");
                }
                take(decode(pair.substring(0, equals), false), decode(pair.substring(equals + 1), plusIsSpace));
            }
        }

        private void take(String name, String value) {
            switch (name) {
                case "user" -> user = value;
                case "password" -> password = value;
                case "dbname", "PGDBNAME" -> database = value;
                case "host", "PGHOST" -> {
                    places.clear();
                    places.addAll(List.of(value.split(",")));
                }
                case "port", "PGPORT" -> {
                    List<String> hosts = places.isEmpty() ? List.of("") : List.copyOf(places);
                    places.clear();
                    hosts.forEach(host -> places.add(host + ":" + value));
                }
                default ->
                    DriverParameter.put(name, value, parameters, problem -> {
                        throw malformed(problem);
                    });
            }
        }

        String host(String host) {
            if (host.startsWith("/")) {
                throw malformed(
                        "it names a socket directory; the driver speaks TCP only: give a host name, such as localhost");
            }
            if (host.matches("\\[[0-9a-fA-F:.%]+]") || host.matches("[A-Za-z0-9_.-]+")) {
                return host;
            }
            throw malformed("the host is not a name or address; write special characters of a password as %40 for @,"
                    + " %2F for / and %3A for :");
        }

        int port(String port) {
            if (!port.matches("\\d{1,5}") || Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65_535) {
                throw malformed("the port is not a number from 1 to 65535; " + FORMS);
            }
            return Integer.parseInt(port);
        }

        private String decode(String text, boolean plusIsSpace) {
            try {
                String plus = plusIsSpace ? text : text.replace("+", "%2B");
                return java.net.URLDecoder.decode(plus, java.nio.charset.StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                throw malformed("a percent sign is not followed by two hexadecimal digits; write % itself as %25");
            }
        }

        private CommandException malformed(String problem) {
            return new CommandException(ExitCode.USAGE, "could not read " + origin + ": " + problem);
        }
    }

    /** Where it was found: an option or a variable. */
    String origin() {
        return origin;
    }

    List<String> hosts() {
        return hosts;
    }

    List<Integer> ports() {
        return ports;
    }

    /** Null leaves it to the driver, which takes the user's name. */
    @Nullable
    String database() {
        return database;
    }

    @Nullable
    String user() {
        return user;
    }

    @Nullable
    String password() {
        return password;
    }

    /** The driver's own settings, by the driver's names. */
    Map<String, String> parameters() {
        return parameters;
    }

    /** Host, port and database. */
    @Override
    public String toString() {
        List<String> places = new ArrayList<>();
        for (int i = 0; i < hosts.size(); i++) {
            places.add(hosts.get(i) + ":" + ports.get(i));
        }
        return places.stream().collect(Collectors.joining(",")) + "/" + (database == null ? "" : database);
    }

    private static @Nullable String orElse(@Nullable String value, @Nullable String other) {
        return value == null || value.isEmpty() ? (other == null || other.isEmpty() ? value : other) : value;
    }
}
