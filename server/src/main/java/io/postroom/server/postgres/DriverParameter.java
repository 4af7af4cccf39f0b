package io.postroom.server.postgres;

import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.postgresql.PGProperty;

/**
 * The parameters a URL may carry: the driver's own, and libpq's words for the same.
 *
 * <p>A name that nobody knows is refused: the driver would ignore it, and {@code sslmod=verify-full} would connect without.
 */
final class DriverParameter {
    private static final Set<String> DRIVER =
            Arrays.stream(PGProperty.values()).map(PGProperty::getName).collect(Collectors.toUnmodifiableSet());

    private static final Map<String, String> LIBPQ = Map.of(
            "connect_timeout", "connectTimeout",
            "application_name", "ApplicationName",
            "channel_binding", "channelBinding",
            "gssencmode", "gssEncMode",
            "sslpassword", "sslpassword",
            "require_auth", "requireAuth",
            "sslnegotiation", "sslNegotiation");

    private static final Map<String, String> SESSION = Map.of(
            "any", "any",
            "read-write", "primary",
            "primary", "primary",
            "read-only", "secondary",
            "standby", "secondary",
            "prefer-standby", "preferSecondary");

    private DriverParameter() {}

    /** Adds one parameter under the driver's name; {@code refuse} hears why it cannot be, and throws. */
    static void put(String name, String value, Map<String, String> parameters, Consumer<String> refuse) {
        if (name.equals("target_session_attrs")) {
            String type = SESSION.get(value);
            if (type == null) {
                refuse.accept("target_session_attrs is one of " + SESSION.keySet());
            } else {
                parameters.put(PGProperty.TARGET_SERVER_TYPE.getName(), type);
            }
            return;
        }
        String driver = LIBPQ.getOrDefault(name, name);
        if (driver.equals(PGProperty.PREFER_QUERY_MODE.getName()) && value.equals("simple")) {
            refuse.accept("preferQueryMode=simple puts values into the text of statements; leave it out");
        }
        if (!DRIVER.contains(driver)) {
            Set<String> known = new HashSet<>(DRIVER);
            known.addAll(LIBPQ.keySet());
            refuse.accept("the driver has no parameter " + Quoted.text(name, 40) + Suggestion.didYouMean(name, known));
        }
        parameters.put(driver, value);
    }
}
