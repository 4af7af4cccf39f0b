package io.postroom.server.relay;

import io.postroom.server.settings.Given;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a file says, flat, for people to look at: variables are replaced, and secrets are masked. */
final class GivenSettings {
    /** Everything below these is a secret, or somebody's data. */
    private static final Set<String> SECRET = Set.of("secrets", "headers", "token-sha256", "payload");

    private static final Pattern SECRET_NAME =
            Pattern.compile("(?i).*(passw|secret|jaas|token|credential|private|keystore|truststore|\\.key).*");
    /** Names that only look so. */
    private static final Set<String> PLAIN = Set.of("secret-files", "allow-private");

    /** Who signs in, and the rest of an address that may carry a key. */
    private static final Pattern USER = Pattern.compile("(?<=//)[^/@\\s]*@");

    private static final Pattern QUERY = Pattern.compile("\\?.*");

    private final Variables variables;
    private final List<Given> all = new ArrayList<>();

    private GivenSettings(Variables variables) {
        this.variables = variables;
    }

    static List<Given> of(@Nullable Node node, Variables variables) {
        GivenSettings given = new GivenSettings(variables);
        // Anything else is refused by whoever reads it.
        if (node instanceof Node.Mapping) {
            given.add(List.of(), node);
        }
        return given.all;
    }

    private void add(List<String> path, Node node) {
        if (node instanceof Node.Mapping mapping) {
            // Names of the user's own stay as they are; those of settings are none.
            mapping.entries().forEach((name, value) -> {
                List<String> longer = new ArrayList<>(path);
                longer.add(name);
                add(longer, value);
            });
        } else if (node instanceof Node.Sequence list) {
            all.add(new Given(
                    path,
                    list.items().stream().map(item -> shown(path, item)).collect(Collectors.joining(", ")),
                    origin(list)));
        } else {
            all.add(new Given(path, shown(path, node), origin(node)));
        }
    }

    private String shown(List<String> path, Node node) {
        if (!(node instanceof Node.Scalar scalar) || scalar.text() == null) {
            return "";
        }
        if (isSecret(path)) {
            return Given.MASK;
        }
        String value = variables.replace(scalar.text(), missing -> {});
        return value.contains("://")
                ? QUERY.matcher(USER.matcher(value).replaceAll(Given.MASK + "@"))
                        .replaceAll("?" + Given.MASK)
                : value;
    }

    private static boolean isSecret(List<String> path) {
        String last = path.get(path.size() - 1);
        return path.stream().anyMatch(SECRET::contains)
                || !PLAIN.contains(last) && SECRET_NAME.matcher(last).matches();
    }

    private static String origin(Node node) {
        String line = "line " + node.line();
        List<String> texts = node instanceof Node.Sequence list
                ? list.items().stream().map(GivenSettings::text).toList()
                : List.of(text(node));
        List<String> names = texts.stream()
                .flatMap(text -> Variables.names(text).stream())
                .distinct()
                .toList();
        return names.isEmpty() ? line : line + ", variable " + String.join(", ", names);
    }

    private static String text(Node node) {
        return node instanceof Node.Scalar scalar && scalar.text() != null ? scalar.text() : "";
    }
}
