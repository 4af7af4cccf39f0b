package io.postroom.server.web;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What every page knows besides its own matter: who looks, where links begin, and what its forms carry.
 *
 * @param place which part of the console it belongs to, such as {@code subscriptions}
 * @param base what stands before the path of every link
 * @param assets the folder of style and script; its name changes with them
 * @param path of this page, without the base
 * @param query of this page, in the order given
 * @param at when it was made
 * @param parts the parts of the console, in their order
 */
public record Page(
        String title,
        String place,
        String base,
        String assets,
        String path,
        Map<String, String> query,
        String environment,
        @Nullable User user,
        boolean canSignOut,
        String formToken,
        Instant at,
        List<Part> parts) {

    /** An address of the console: a path, and names and values of its query; those without a value are left out. */
    public String link(String to, @Nullable Object... query) {
        Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
        for (int i = 0; i + 1 < query.length; i += 2) {
            parameters.put(String.valueOf(query[i]), query[i + 1]);
        }
        return base + to + encoded(parameters);
    }

    /** An address with a whole filter, and more names and values, which take the place of those of the filter. */
    public String filtered(String to, Map<String, String> filter, @Nullable Object... more) {
        Map<String, @Nullable Object> parameters = new LinkedHashMap<>(filter);
        for (int i = 0; i + 1 < more.length; i += 2) {
            parameters.put(String.valueOf(more[i]), more[i + 1]);
        }
        return base + to + encoded(parameters);
    }

    /** A path with a name in it that others have chosen. */
    public String link(String to, String name) {
        return base + to + "/" + encode(name);
    }

    /** This page with some of its query changed. */
    public String with(@Nullable Object... changes) {
        Map<String, @Nullable Object> parameters = new LinkedHashMap<>(query);
        for (int i = 0; i + 1 < changes.length; i += 2) {
            parameters.put(String.valueOf(changes[i]), changes[i + 1]);
        }
        return base + path + encoded(parameters);
    }

    /** This page as it was asked for. */
    public String self() {
        return with();
    }

    /** A value of the query; empty if it is not there. */
    public String asked(String name) {
        return query.getOrDefault(name, "");
    }

    /** Whether what is done here is done to real customers: only that is shown in red. */
    public boolean isProduction() {
        return environment.toLowerCase(Locale.ROOT).startsWith("prod");
    }

    public boolean mayAct() {
        return user != null && user.mayAct();
    }

    /** Whether who looks may do something, by its word in the settings. */
    public boolean may(String permission) {
        return user != null && Permission.named(permission).map(user::may).orElse(false);
    }

    /** The identity of an act that this page offers: pressing twice is asking once. */
    public String newId() {
        return UUID.randomUUID().toString();
    }

    /** A part of the console; {@code key} is pressed after {@code g}. */
    public record Part(String place, String name, String path, String key) {}

    /** The parts that every console has. */
    static final List<Part> PARTS = List.of(
            new Part("overview", "Overview", "/", "o"),
            new Part("messages", "Messages", "/messages", "m"),
            new Part("subscriptions", "Subscriptions", "/subscriptions", "s"),
            new Part("dead-letters", "Dead letters", "/dead-letters", "d"),
            new Part("redrives", "Redrives", "/redrives", "r"),
            new Part("jobs", "Jobs", "/jobs", "j"),
            new Part("read-models", "Read models", "/read-models", "p"),
            new Part("idempotency-keys", "Idempotency keys", "/idempotency-keys", "i"),
            new Part("audit", "Audit", "/audit", "a"),
            new Part("database", "Database", "/database", "f"),
            new Part("doctor", "Doctor", "/doctor", "h"),
            new Part("settings", "Settings", "/settings", "e"));

    private static String encoded(Map<String, @Nullable Object> parameters) {
        StringBuilder text = new StringBuilder();
        parameters.forEach((name, value) -> {
            if (value != null && !value.toString().isEmpty()) {
                text.append(text.length() == 0 ? '?' : '&')
                        .append(encode(name))
                        .append('=')
                        .append(encode(value.toString()));
            }
        });
        return text.toString();
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
