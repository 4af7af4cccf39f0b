package io.postroom.server.web;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What a user of console and API may do besides looking.
 *
 * @param word its name in the settings
 */
public record Role(String word, Set<Permission> permissions) {
    /** Sees everything, changes nothing. */
    public static final Role VIEWER = new Role("viewer", Set.of());

    /** Does everything that has a name: pauses, resumes, redrives, discards, runs, reveals. */
    public static final Role OPERATOR = new Role("operator", EnumSet.complementOf(EnumSet.of(Permission.OTHER)));

    /** Whatever there is. */
    public static final Role ADMIN = new Role("admin", EnumSet.allOf(Permission.class));

    /** Those that every console has. */
    public static final List<Role> ALL = List.of(VIEWER, OPERATOR, ADMIN);

    public Role {
        permissions = Set.copyOf(permissions);
    }

    /** A role of the settings; throws if a permission is none. */
    public static Role of(String word, List<String> permissions) {
        EnumSet<Permission> known = EnumSet.noneOf(Permission.class);
        for (String each : permissions) {
            known.add(Permission.named(each)
                    .orElseThrow(() -> new IllegalArgumentException("'" + Asked.shown(each)
                            + "' is no permission; those are " + String.join(", ", Permission.words()))));
        }
        return new Role(word, known);
    }

    public boolean may(Permission permission) {
        return permissions.contains(permission);
    }

    boolean mayAct() {
        return !permissions.isEmpty();
    }

    /** What it may, as the settings write it, in their order. */
    public List<String> words() {
        return Arrays.stream(Permission.values())
                .filter(this::may)
                .map(Permission::word)
                .toList();
    }
}
