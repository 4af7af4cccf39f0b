package io.postroom.micrometer;

import java.util.function.DoubleBinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Something that a sampler reads.
 *
 * @param name with dots, as Micrometer names meters
 * @param unit seconds or bytes; null: it is a number of things
 * @param together what two values become that share their tags
 * @param isTotal whether it only grows: then it is a counter, which does not become less when it cannot be read
 */
public record Figure(
        String name, @Nullable String unit, String description, DoubleBinaryOperator together, boolean isTotal) {

    /** How many of something there are now. */
    public static Figure count(String name, String description) {
        return new Figure(name, null, description, Double::sum, false);
    }

    /** How old the oldest is, in seconds. */
    public static Figure age(String name, String description) {
        return new Figure(name, "seconds", description, Math::max, false);
    }

    public static Figure bytes(String name, String description) {
        return new Figure(name, "bytes", description, Double::sum, false);
    }

    /** One if something is so, else zero. */
    public static Figure flag(String name, String description) {
        return new Figure(name, null, description, Math::max, false);
    }

    /** Of which the smallest value matters. */
    public static Figure least(String name, String description) {
        return new Figure(name, null, description, Math::min, false);
    }

    /** How many there have been, as the database remembers it. */
    public static Figure total(String name, String description) {
        return new Figure(name, null, description, Double::sum, true);
    }
}
