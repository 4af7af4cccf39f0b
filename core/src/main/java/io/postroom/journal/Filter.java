package io.postroom.journal;

import io.postroom.message.Message;
import java.util.List;
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

    /** The same from what is stored: null means all. */
    public static Filter of(
            String @Nullable [] aggregateTypes, String @Nullable [] eventTypes, String @Nullable [] tenants) {
        return new Filter(set(aggregateTypes), set(eventTypes), set(tenants));
    }

    private static Set<String> set(String @Nullable [] values) {
        return values == null ? Set.of() : Set.copyOf(List.of(values));
    }

    /** Whether a message, as it was published, is wanted. */
    public boolean wants(Message message) {
        String tenant = message.tenantId();
        return (aggregateTypes.isEmpty() || aggregateTypes.contains(message.aggregateType()))
                && (eventTypes.isEmpty() || eventTypes.contains(message.eventType()))
                && (tenants.isEmpty() || tenant != null && tenants.contains(tenant));
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
