package io.postroom.server.relay;

import io.postroom.postgres.Schema;
import io.postroom.server.postgres.RoleNames;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.web.Payloads;
import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The block {@code console}: where it listens and who may use it. */
final class ConsoleBlock {
    private static final Pattern ADDRESS = Pattern.compile("(?:(\\[[0-9a-fA-F:.]+]|[A-Za-z0-9.-]+):)?(\\d{1,5})");
    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)*");
    private static final Pattern ORIGIN = Pattern.compile("https?://[a-z0-9.-]{1,253}(:\\d{1,5})?");
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern ROLE = Pattern.compile("[A-Za-z0-9-]{1,30}");
    private static final int ROLES_MAX = 50;
    private static final int USERS_MAX = 1_000;
    private static final int NAME_LENGTH_MAX = 100;
    private static final int ENVIRONMENT_LENGTH_MAX = 30;

    private final WebSettings.Builder settings = WebSettings.builder();

    private ConsoleBlock() {}

    static WebSettings read(Section root) {
        Optional<Section> found = root.section("console");
        if (found.isEmpty()) {
            return WebSettings.local(WebSettings.PORT);
        }
        Section section = found.get();
        ConsoleBlock block = new ConsoleBlock();
        section.read("address", block::address);
        section.read("base-path", block::basePath);
        section.read("environment", block::environment);
        section.read("origin", block::origin);
        section.read("payloads", block::payloads);
        Map<String, Role> roles = roles(section);
        WebSettings settings = block.settings
                .https(section.bool("https"))
                .plainHttp(section.bool("plain-http"))
                .readOnly(section.bool("read-only"))
                .roles(roles.values().stream()
                        .filter(role -> !Role.ALL.contains(role))
                        .toList())
                .accounts(accounts(section, roles))
                .proxy(ProxyBlock.read(section, roles).orElse(null))
                .databaseRoles(databaseRoles(section))
                .build();
        section.close();
        settings.problems().forEach(problem -> section.problem(section.line(), problem));
        return settings;
    }

    private void address(String text) {
        Matcher matcher = ADDRESS.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 65_535) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not an address; write 8642, 127.0.0.1:8642 or 0.0.0.0:8642");
        }
        if (matcher.group(1) != null) {
            settings.host(matcher.group(1).replaceAll("[\\[\\]]", ""));
        }
        settings.port(Integer.parseInt(matcher.group(2)));
    }

    private void basePath(String text) {
        String path = text.equals("/") ? "" : text;
        if (!PATH.matcher(path).matches() || path.length() > 200) {
            throw new IllegalArgumentException("'" + text + "' is not a path; write /postroom, without an end");
        }
        settings.basePath(path);
    }

    private void environment(String text) {
        if (text.length() > ENVIRONMENT_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "is " + text.length() + " characters, the limit is " + ENVIRONMENT_LENGTH_MAX);
        }
        settings.environment(text);
    }

    private void origin(String text) {
        String origin = text.toLowerCase(Locale.ROOT);
        if (!ORIGIN.matcher(origin).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not an origin; write https://ops.example.com, without a path");
        }
        settings.origin(origin);
    }

    private void payloads(String text) {
        settings.payloads(Arrays.stream(Payloads.values())
                .filter(each -> each.word().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + text + "' is none of shown, masked, hidden"
                        + Suggestion.didYouMean(text, List.of("shown", "masked", "hidden")))));
    }

    /** By their names: those that every console has, and those of the file. */
    private static Map<String, Role> roles(Section console) {
        Map<String, Role> roles = new LinkedHashMap<>();
        Role.ALL.forEach(role -> roles.put(role.word(), role));
        console.section("roles")
                .ifPresent(section -> section.lists().forEach((name, permissions) -> {
                    if (roles.containsKey(name)) {
                        section.problem(
                                section.lineOf(name), section.name(name) + " is there already; choose another name");
                    } else if (!ROLE.matcher(name).matches() || roles.size() >= ROLES_MAX) {
                        section.problem(
                                section.lineOf(name),
                                section.path()
                                        + ": a role has a name of 1 to 30 letters, digits and dashes, and there are "
                                        + ROLES_MAX + " at most");
                    } else {
                        try {
                            roles.put(name, Role.of(name, permissions));
                        } catch (IllegalArgumentException e) {
                            section.problem(section.lineOf(name), section.name(name) + ": " + e.getMessage());
                        }
                    }
                }));
        return roles;
    }

    private static RoleNames databaseRoles(Section console) {
        Map<String, String> names = new LinkedHashMap<>();
        console.each("database-roles", (role, name) -> {
            if (!RoleNames.ROLES.contains(role)) {
                throw new IllegalArgumentException(
                        "there is no such role; there are " + String.join(", ", RoleNames.ROLES));
            }
            // Refuses what is no name.
            new RoleNames(Map.of(role, name)).of(Schema.POSTROOM);
            names.put(role, name);
        });
        return new RoleNames(names);
    }

    private static Map<String, User> accounts(Section console, Map<String, Role> roles) {
        Map<String, User> accounts = new LinkedHashMap<>();
        Map<String, Section> users =
                console.section("users").map(Section::sections).orElse(Map.of());
        if (users.size() > USERS_MAX) {
            console.problem(console.line(), "console.users has " + users.size() + ", the limit is " + USERS_MAX);
        }
        users.forEach((name, section) -> {
            Optional<String> role = section.text("role");
            Optional<String> hash = section.text("token-sha256").map(text -> text.toLowerCase(Locale.ROOT));
            section.close();
            Optional<Role> known = role.map(roles::get);
            if (known.isEmpty()) {
                section.problem(
                        section.line(),
                        section.path() + ".role is "
                                + role.map(word -> "'" + word + "', none of ").orElse("missing; one of ")
                                + String.join(", ", roles.keySet())
                                + Suggestion.didYouMean(role.orElse(""), roles.keySet()));
            }
            if (name.isBlank() || name.length() > NAME_LENGTH_MAX) {
                section.problem(
                        section.line(), section.path() + ": a name has 1 to " + NAME_LENGTH_MAX + " characters");
            }
            // The value is not shown: somebody may have put the token itself here.
            if (hash.isEmpty() || !HASH.matcher(hash.get()).matches()) {
                section.problem(
                        section.line(),
                        section.path()
                                + ".token-sha256 is not 64 hexadecimal digits; make it with printf %s TOKEN | sha256sum");
            } else if (known.isPresent() && accounts.put(hash.get(), new User(name, known.get())) != null) {
                section.problem(
                        section.line(),
                        section.path() + ".token-sha256 is that of another user; each needs an own token");
            }
        });
        return accounts;
    }
}
