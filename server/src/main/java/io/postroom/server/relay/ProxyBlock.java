package io.postroom.server.relay;

import io.postroom.server.terminal.Suggestion;
import io.postroom.server.web.Proxy;
import io.postroom.server.web.Role;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The block {@code console.proxy}: who signs people in before they come here, and what their groups may do. */
final class ProxyBlock {
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9-]{1,60}");
    private static final int ENTRIES_MAX = 100;

    private ProxyBlock() {}

    static Optional<Proxy> read(Section console, Map<String, Role> known) {
        return console.section("proxy").map(section -> block(section, known));
    }

    private static Proxy block(Section section, Map<String, Role> known) {
        String user = header(section, "user-header");
        String groups = header(section, "groups-header");
        Map<String, Role> roles = new LinkedHashMap<>();
        section.each("roles", (group, word) -> {
            Role role = known.get(word);
            if (role == null) {
                throw new IllegalArgumentException("'" + word + "' is no role; those are "
                        + String.join(", ", known.keySet()) + Suggestion.didYouMean(word, known.keySet()));
            }
            if (group.isBlank() || group.contains(",")) {
                throw new IllegalArgumentException("a group has a name without commas");
            }
            roles.put(group, role);
        });
        List<Proxy.Network> from = new ArrayList<>();
        for (String text : section.texts("from")) {
            try {
                from.add(Proxy.Network.of(text));
            } catch (IllegalArgumentException e) {
                section.problem(section.lineOf("from"), section.name("from") + ": " + e.getMessage());
            }
        }
        // Without it anybody could say to be anybody.
        if (!section.has("from") || section.texts("from").isEmpty()) {
            section.problem(
                    section.line(),
                    "console.proxy.from is missing; write the addresses of the proxy, the only ones whose headers are believed");
        }
        if (!section.has("roles")) {
            section.problem(section.line(), "console.proxy.roles is missing; write which role each group has");
        }
        if (roles.size() > ENTRIES_MAX || from.size() > ENTRIES_MAX) {
            section.problem(
                    section.line(), "console.proxy has more than " + ENTRIES_MAX + " groups or addresses, the limit");
        }
        section.close();
        return new Proxy(user, groups, roles, from);
    }

    private static String header(Section section, String setting) {
        Optional<String> name = section.text(setting);
        if (name.isEmpty() || !HEADER.matcher(name.get()).matches()) {
            section.problem(
                    section.lineOf(setting),
                    section.name(setting)
                            + " is not the name of a header; write what the proxy sets, such as X-Forwarded-"
                            + (setting.startsWith("user") ? "User" : "Groups"));
        }
        return name.orElse("");
    }
}
