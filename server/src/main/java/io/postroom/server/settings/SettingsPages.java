package io.postroom.server.settings;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.postgres.MigrationState;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Permission;
import io.postroom.server.web.Proxy;
import io.postroom.server.web.Role;
import io.postroom.server.web.Routes;
import io.postroom.server.web.User;
import io.postroom.server.web.WebServer;
import io.postroom.server.web.WebSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Settings and access: what this process runs, and who may do what. */
public final class SettingsPages implements WebServer.Feature {
    private final Postroom reading;
    private final SettingsTable table;
    private final WebSettings settings;
    private final List<String> parts;
    private final List<Setting> all;

    /** {@code reading} and acting have the same role: what it may is asked through either. */
    public SettingsPages(Postroom reading, WebSettings settings, List<String> parts, List<Given> given) {
        this.reading = reading;
        this.table = new SettingsTable(reading.database().schema());
        this.settings = settings;
        this.parts = List.copyOf(parts);
        this.all = SettingList.of(settings, given);
    }

    /** Something that roles may or may not do, and what the role of the database lacks for it. */
    public record Allowance(String word, String meaning, List<String> lacks) {}

    /** A user of the settings or a group of the proxy, and the word of its role. */
    public record Member(String name, String role) {}

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/settings", context -> show(context, pages)).call("/settings", this::answer);
    }

    private void show(Context context, Pages pages) {
        pages.show(
                context,
                "settings",
                pages.page(context, "Settings", "settings"),
                "version",
                version(),
                "parts",
                parts,
                "schema",
                reading.database().schema().name(),
                "schemaVersion",
                schemaVersion(),
                "base",
                reading.database().run(table::base),
                "settings",
                all,
                "allowances",
                allowances(),
                "roles",
                roles(),
                "users",
                users(),
                "groups",
                groups(),
                "isReadOnly",
                settings.readOnly(),
                "payloads",
                settings.payloads());
    }

    private Map<String, @Nullable Object> answer(Context context) {
        Base base = reading.database().run(table::base);
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("version", version());
        answer.put("java", System.getProperty("java.version"));
        answer.put("parts", parts);
        answer.put("schema", reading.database().schema().name());
        answer.put("schemaVersion", schemaVersion());
        answer.put("database", Map.of("name", base.name(), "version", base.version(), "role", base.role()));
        answer.put(
                "settings",
                all.stream()
                        .map(each -> Map.of(
                                "name", each.name(),
                                "value", each.value(),
                                "unlessGiven", each.unlessGiven(),
                                "origin", each.origin(),
                                "meaning", each.meaning(),
                                "documented", each.documented()))
                        .toList());
        answer.put(
                "permissions",
                allowances().stream()
                        .map(each ->
                                Map.of("name", each.word(), "meaning", each.meaning(), "databaseLacks", each.lacks()))
                        .toList());
        answer.put(
                "roles",
                roles().stream()
                        .map(role -> Map.of("name", role.word(), "permissions", role.words()))
                        .toList());
        answer.put("users", objects(users()));
        answer.put("groups", objects(groups()));
        User user = Routes.user(context);
        answer.put(
                "you",
                Map.of(
                        "name", user.name(),
                        "role", user.role().word(),
                        "permissions", user.role().words()));
        return answer;
    }

    private static List<Map<String, String>> objects(List<Member> members) {
        return members.stream()
                .map(each -> Map.of("name", each.name(), "role", each.role()))
                .toList();
    }

    private static String version() {
        String version = SettingsPages.class.getPackage().getImplementationVersion();
        return version == null ? "not packaged" : version;
    }

    private int schemaVersion() {
        return reading.migrations().status().stream()
                .filter(each -> each.state() != MigrationState.Word.PENDING)
                .mapToInt(MigrationState::version)
                .max()
                .orElse(0);
    }

    private List<Allowance> allowances() {
        Map<String, List<String>> needs = reading.database().run(table::needs);
        List<Allowance> all = new ArrayList<>();
        all.add(new Allowance("look", "sees everything that is not masked", needs.getOrDefault("look", List.of())));
        Arrays.stream(Permission.values())
                .map(each -> new Allowance(each.word(), each.meaning(), needs.getOrDefault(each.word(), List.of())))
                .forEach(all::add);
        return all;
    }

    private List<Role> roles() {
        return Stream.concat(Role.ALL.stream(), settings.roles().stream()).toList();
    }

    private List<Member> users() {
        return settings.accounts().values().stream()
                .map(user -> new Member(user.name(), user.role().word()))
                .sorted(Comparator.comparing(Member::name))
                .toList();
    }

    private List<Member> groups() {
        Proxy proxy = settings.proxy();
        return proxy == null
                ? List.of()
                : proxy.roles().entrySet().stream()
                        .map(each -> new Member(each.getKey(), each.getValue().word()))
                        .toList();
    }
}
