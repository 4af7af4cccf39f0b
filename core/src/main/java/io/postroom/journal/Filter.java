package io.postroom.journal;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which messages a subscription wants: an empty set means all. A message must fit every set that is not empty. */
public record Filter(Set<String> aggregateTypes, Set<String> eventTypes, Set<String> tenants) {
    /** Everything. */
    public static final Filter ALL = new Filter(Set.of(), Set.of(), Set.of());

    public Filter {
        aggregateTypes = Set.copyOf(aggregateTypes);
        eventTypes = Set.copyOf(eventTypes);
        tenants = Set.copyOf(tenants);
    }

    public @Nullable String @Nullable [] aggregateTypesOrNull() {
        return orNull(aggregateTypes);
    }

    public @Nullable String @Nullable [] eventTypesOrNull() {
        return orNull(eventTypes);
    }

    public @Nullable String @Nullable [] tenantsOrNull() {
        return orNull(tenants);
    }

    private static @Nullable String @Nullable [] orNull(Set<String> values) {
        return values.isEmpty() ? null : values.stream().sorted().toArray(String[]::new);
    }
}
