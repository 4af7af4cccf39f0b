package io.postroom.server.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * How console and API are served. Immutable.
 *
 * @param host to listen on
 * @param port 0 takes any that is free
 * @param basePath where a proxy puts it: empty, or {@code /postroom}
 * @param environment a word that every page shows, such as {@code production}; empty: none
 * @param https whether browsers come by HTTPS, through a proxy: cookies are then for HTTPS only
 * @param readOnly whether nobody may change anything here
 * @param accounts by the SHA-256 of their tokens, as hexadecimal digits; without any, it is for whoever has the token of the process
 */
public record WebSettings(
        String host,
        int port,
        String basePath,
        String environment,
        boolean https,
        boolean readOnly,
        Map<String, User> accounts) {
    public static final int PORT = 8642;
    public static final String HOST = "127.0.0.1";

    /** Names that never leave the machine. */
    static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "::1", "[::1]");

    public WebSettings {
        accounts = Map.copyOf(accounts);
    }

    /** For this machine alone. */
    public static WebSettings local(int port) {
        return new WebSettings(HOST, port, "", "", false, false, Map.of());
    }

    /** What stands against serving it like this, a sentence each. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        if (hasUsers()) {
            return problems;
        }
        if (!isLoopback()) {
            problems.add("console.address is " + host
                    + ", which others can reach, and there are no console.users; add some, or listen on " + HOST);
        }
        if (!basePath.isEmpty() || https) {
            problems.add(
                    (https ? "console.https" : "console.base-path")
                            + " is for a proxy, through which others come, and there are no console.users; add some, or leave it out");
        }
        return problems;
    }

    boolean isLoopback() {
        return LOOPBACK.contains(host.toLowerCase(Locale.ROOT));
    }

    boolean hasUsers() {
        return !accounts.isEmpty();
    }
}
