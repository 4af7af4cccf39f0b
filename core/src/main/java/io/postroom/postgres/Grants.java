package io.postroom.postgres;

import io.postroom.PostroomException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The names of the six roles that Postroom's schema is made for, and the SQL that gives each of them just what it needs.
 *
 * <p>Only prints: whoever may create roles reads it first and runs it.
 */
public record Grants(String owner, String writer, String relay, String reader, String operator, String consumer) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_$-]{0,62}");

    public Grants {
        for (String name : List.of(owner, writer, relay, reader, operator, consumer)) {
            if (!NAME.matcher(name).matches()) {
                throw new PostroomException(
                        "schema.role-invalid",
                        "could not print grants for role '" + name
                                + "': a role is 1 to 63 letters, digits or _ $ -, not beginning"
                                + " with a digit; choose another name");
            }
        }
    }

    /** Roles named after a schema: {@code postroom_owner} and so on. */
    public static Grants of(Schema schema) {
        String name = schema.name();
        return new Grants(
                name + "_owner",
                name + "_writer",
                name + "_relay",
                name + "_reader",
                name + "_operator",
                name + "_consumer");
    }

    /** All of them, the owner first. */
    public List<String> roles() {
        return List.of(owner, writer, relay, reader, operator, consumer);
    }

    /** The SQL for a schema, to be run once and again after each migration. */
    public String print(Schema schema) {
        return schema.fill(Schema.read(Grants.class, "grants.sql"))
                .replace("/*schema.quoted*/", '"' + schema.name() + '"')
                .replace("/*name*/", schema.name())
                .replace("/*owner*/", owner)
                .replace("/*writer*/", writer)
                .replace("/*relay*/", relay)
                .replace("/*reader*/", reader)
                .replace("/*operator*/", operator)
                .replace("/*consumer*/", consumer);
    }
}
