package io.postroom.server.postgres;

import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import java.util.List;
import java.util.Map;

/**
 * Names of database roles where they are not the usual ones, as they were given to {@code schema grants}.
 *
 * @param given by what the role is for, of {@link #ROLES}
 */
public record RoleNames(Map<String, String> given) {
    /** The usual ones. */
    public static final RoleNames USUAL = new RoleNames(Map.of());

    /** What there are roles for. */
    public static final List<String> ROLES = List.of("owner", "writer", "relay", "reader", "operator", "consumer");

    public RoleNames {
        given = Map.copyOf(given);
    }

    /** For a schema; throws if a name is none. */
    public Grants of(Schema schema) {
        Grants usual = Grants.of(schema);
        return new Grants(
                given.getOrDefault("owner", usual.owner()),
                given.getOrDefault("writer", usual.writer()),
                given.getOrDefault("relay", usual.relay()),
                given.getOrDefault("reader", usual.reader()),
                given.getOrDefault("operator", usual.operator()),
                given.getOrDefault("consumer", usual.consumer()));
    }
}
