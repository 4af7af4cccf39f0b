package io.postroom.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One right that the printed grants give to one role.
 *
 * @param kind {@code schema}, {@code table}, {@code column}, {@code function} or {@code all sequences in schema}
 * @param object as SQL has it, a function with the types of its parameters
 * @param column empty unless it is a right on one
 */
record GrantedRight(String role, String verb, String kind, String object, String column) {
    private static final Pattern GRANT =
            Pattern.compile("(?ms)^grant (.+?) on (function |schema |all sequences in schema )?(.+?)\\s+to (.+?);");
    private static final Pattern VERB = Pattern.compile("(\\w+)\\s*(?:\\((.*)\\))?", Pattern.DOTALL);

    /** Every right of a script of grants, which must have been printed for its schema and roles. */
    static List<GrantedRight> of(String script) {
        String code = script.replaceAll("(?m)^\\s*--.*$", "");
        List<GrantedRight> rights = new ArrayList<>();
        Matcher grants = GRANT.matcher(code);
        while (grants.find()) {
            String kind = grants.group(2) == null ? "table" : grants.group(2).strip();
            for (String role : parts(grants.group(4))) {
                for (String object : parts(grants.group(3))) {
                    for (String verb : parts(grants.group(1))) {
                        add(rights, unquoted(role), verb, kind, object.replaceAll("\\s+", " "));
                    }
                }
            }
        }
        return rights;
    }

    private static void add(List<GrantedRight> rights, String role, String verb, String kind, String object) {
        Matcher words = VERB.matcher(verb);
        if (!words.matches()) {
            throw new IllegalStateException("'" + verb + "' is no right that can be granted");
        }
        String columns = words.group(2);
        if (columns == null) {
            rights.add(new GrantedRight(role, words.group(1), kind, object, ""));
        } else {
            parts(columns)
                    .forEach(column -> rights.add(new GrantedRight(role, words.group(1), "column", object, column)));
        }
    }

    /** What commas separate, but for those within parentheses. */
    private static List<String> parts(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= list.length(); i++) {
            char c = i == list.length() ? ',' : list.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && depth == 0) {
                parts.add(list.substring(from, i).strip());
                from = i + 1;
            }
        }
        return parts;
    }

    private static String unquoted(String name) {
        return name.replaceAll("^\"|\"$", "");
    }

    /** {@code insert (id) on table …}, for people and for a grant. */
    String words() {
        return verb + (column.isEmpty() ? "" : " (" + column + ")") + " on " + (kind.equals("column") ? "table" : kind)
                + " " + object;
    }
}
