package io.postroom.doctor;

import java.util.List;
import java.util.Locale;

/** Names of others in SQL and in sentences. */
final class Names {
    private static final int SHOWN_MAX = 5;
    private static final long KILO = 1024;

    private Names() {}

    static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** Characters that end lines, or that terminals obey, are written as escapes. */
    static String literal(String text) {
        String plain = text.replace("'", "''");
        if (text.chars().noneMatch(Character::isISOControl)) {
            return "'" + plain + "'";
        }
        StringBuilder escaped = new StringBuilder("E'");
        plain.replace("\\", "\\\\").chars().forEach(c -> {
            if (Character.isISOControl(c)) {
                escaped.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                escaped.append((char) c);
            }
        });
        return escaped.append('\'').toString();
    }

    /** The first few of many. */
    static String some(List<String> names) {
        String first = String.join(", ", names.subList(0, Math.min(SHOWN_MAX, names.size())));
        return names.size() > SHOWN_MAX ? first + " and " + (names.size() - SHOWN_MAX) + " more" : first;
    }

    /** {@code 64MB}, as PostgreSQL writes it. */
    static String size(long bytes) {
        String[] units = {"B", "kB", "MB", "GB", "TB"};
        long value = bytes;
        int unit = 0;
        while (unit < units.length - 1 && value >= KILO && (value % KILO == 0 || value >= 10 * KILO)) {
            value /= KILO;
            unit++;
        }
        return String.format(Locale.ROOT, "%d%s", value, units[unit]);
    }
}
