package io.postroom.server.settings;

import io.postroom.server.web.Proxy;
import io.postroom.server.web.Role;
import io.postroom.server.web.WebSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A setting as it is in this process. Secrets are masked.
 *
 * @param unlessGiven what holds where nobody gave it; empty if somebody must
 * @param origin whence the value came: a line of the file, with the variables it names, an option, or nobody gave it
 * @param documented the page that describes it
 */
public record Setting(String name, String value, String unlessGiven, String origin, String meaning, String documented) {
    /** One of the console, whose origin is not known yet. */
    private Setting(String name, String value, String meaning) {
        this(name, value, "", "", meaning, DOCUMENT);
    }

    private static final String NONE = "none";

    /** Where every one of the console is described. */
    public static final String DOCUMENT = "docs/serve.md";

    /** Those of the console. */
    static List<Setting> of(WebSettings settings) {
        List<Setting> all = new ArrayList<>();
        all.add(new Setting("console.address", settings.host() + ":" + settings.port(), "where it listens"));
        all.add(new Setting("console.base-path", orNone(settings.basePath()), "where a proxy puts it"));
        all.add(new Setting("console.environment", orNone(settings.environment()), "the word that every page shows"));
        all.add(new Setting("console.https", Boolean.toString(settings.https()), "browsers come by HTTPS"));
        all.add(new Setting("console.origin", orNone(settings.origin()), "what browsers have before the path"));
        all.add(new Setting(
                "console.plain-http",
                Boolean.toString(settings.plainHttp()),
                "tokens may pass a network in the clear"));
        all.add(new Setting("console.payloads", settings.payloads().word(), "how much of payloads is shown"));
        all.add(new Setting(
                "console.read-only", Boolean.toString(settings.readOnly()), "nobody can change anything here"));
        all.add(new Setting(
                "console.users", Integer.toString(settings.accounts().size()), "who signs in with a token"));
        all.add(new Setting(
                "console.roles",
                orNone(settings.roles().stream().map(Role::word).collect(Collectors.joining(", "))),
                "roles besides viewer, operator and admin"));
        all.add(new Setting(
                "console.database-roles",
                orNone(settings.databaseRoles().given().entrySet().stream()
                        .map(each -> each.getKey() + ": " + each.getValue())
                        .sorted()
                        .collect(Collectors.joining(", "))),
                "names of database roles that are not the usual ones"));
        Proxy proxy = settings.proxy();
        all.add(new Setting(
                "console.proxy.user-header",
                proxy == null ? NONE : proxy.userHeader(),
                "where the proxy says who asks"));
        all.add(new Setting(
                "console.proxy.groups-header",
                proxy == null ? NONE : proxy.groupsHeader(),
                "where the proxy says the groups"));
        all.add(new Setting(
                "console.proxy.roles",
                proxy == null ? NONE : Integer.toString(proxy.roles().size()),
                "which role each group has"));
        all.add(new Setting(
                "console.proxy.from",
                proxy == null
                        ? NONE
                        : proxy.from().stream().map(Proxy.Network::text).collect(Collectors.joining(", ")),
                "the only addresses whose headers are believed"));
        return all;
    }

    private static String orNone(String value) {
        return value.isEmpty() ? NONE : value;
    }
}
