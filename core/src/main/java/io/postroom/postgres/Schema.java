package io.postroom.postgres;

import io.postroom.PostroomException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The schema that holds Postroom's tables, and the place where SQL files get its name.
 *
 * <p>A name is lower case and short enough that no identifier made from it is ever cut by PostgreSQL.
 */
public record Schema(String name) {
    private static final Pattern FORM = Pattern.compile("[a-z_][a-z0-9_]{0,30}");
    private static final String MARK = "/*schema*/";

    /** The schema's name where nothing else is said. */
    public static final Schema POSTROOM = new Schema("postroom");

    public Schema {
        if (!FORM.matcher(name).matches() || name.startsWith("pg_")) {
            throw new PostroomException(
                    "schema.name-invalid",
                    "could not use schema '" + name
                            + "': a name is 1 to 31 lower-case letters, digits or _, does not begin with a"
                            + " digit or pg_; choose another with schema.name");
        }
    }

    /** The statement in a file beside a class. */
    public Sql sql(Class<?> owner, String file) {
        return Sql.parse(owner.getSimpleName() + "/" + file, fill(read(owner, file)));
    }

    /**
     * The statement in a file beside a class, with a part that it shares with others: that is in a file beside another class and stands where
     * its name does in a comment, such as {@code filter.sql} for a comment that says {@code filter}.
     */
    public Sql sql(Class<?> owner, String file, Class<?> partOwner, String part) {
        return Sql.parse(owner.getSimpleName() + "/" + file, fill(read(owner, file, partOwner, part)));
    }

    static String read(Class<?> owner, String file, Class<?> partOwner, String part) {
        String mark = "/*" + part.replaceFirst("\\.sql$", "") + "*/";
        String text = read(owner, file);
        if (!text.contains(mark)) {
            throw new IllegalStateException(file + " beside " + owner.getName() + " has no " + mark);
        }
        return text.replace(mark, read(partOwner, part).strip());
    }

    /** Text with this schema's name before each of its tables. */
    public String fill(String text) {
        return text.replace(MARK, '"' + name + "\".");
    }

    static String read(Class<?> owner, String file) {
        try (InputStream in = owner.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("no file " + file + " beside " + owner.getName());
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
