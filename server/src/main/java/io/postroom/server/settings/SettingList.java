package io.postroom.server.settings;

import io.postroom.server.web.WebSettings;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Every setting of the process: those that were given and those that were not, with what holds then. The table of the latter is the one of
 * the documents; a test compares them.
 */
final class SettingList {
    private static final String ANY = "*";
    private static final String NOT_GIVEN = "not given";

    /** Blocks that mean something even where nobody wrote them. */
    private static final Set<String> ALWAYS = Set.of("relay");

    private final List<Row> rows;
    private final List<Given> given;

    /** A setting of the documents; {@code path} has {@code *} where a name of the user's own stands. */
    private record Row(List<String> path, String unlessGiven, String page) {
        boolean isIn(List<String> names) {
            return path.size() == names.size() + 1 && fits(path.subList(0, names.size()), names);
        }
    }

    private SettingList(List<Given> given) {
        this.given = given;
        this.rows = rows();
    }

    /** Those of the console are known as they are in this process; the others are those of the file, of which there may be none. */
    static List<Setting> of(WebSettings console, List<Given> given) {
        SettingList list = new SettingList(given);
        List<Setting> all = new ArrayList<>(
                Setting.of(console).stream().map(list::completed).toList());
        if (!given.isEmpty()) {
            list.rows.stream()
                    .filter(row -> row.path().size() == 1 && !row.path().get(0).equals("console"))
                    .forEach(row -> list.add(row.path(), row, all));
        }
        return all;
    }

    private Setting completed(Setting setting) {
        List<String> path = List.of(setting.name().split("\\."));
        String origin = given.stream()
                .filter(each -> begins(each.path(), path))
                .map(Given::origin)
                .findFirst()
                .orElse(NOT_GIVEN);
        String unlessGiven = rows.stream()
                .filter(row -> begins(path, row.path()))
                .reduce((first, second) -> second)
                .map(Row::unlessGiven)
                .orElse("");
        return new Setting(setting.name(), setting.value(), unlessGiven, origin, setting.meaning(), Setting.DOCUMENT);
    }

    /** A setting, or a block with all that is in it. */
    private void add(List<String> path, Row row, List<Setting> all) {
        Optional<Given> one =
                given.stream().filter(each -> each.path().equals(path)).findFirst();
        if (one.isPresent()) {
            all.add(setting(path, one.get().value(), row, one.get().origin()));
            return;
        }
        Set<String> inside = given.stream()
                .filter(each -> begins(each.path(), path))
                .map(each -> each.path().get(path.size()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        boolean isBlock = rows.stream().anyMatch(each -> each.isIn(path));
        boolean hasNames = rows.stream().anyMatch(each -> each.isIn(with(path, ANY)));
        if (hasNames && !inside.isEmpty()) {
            inside.forEach(name -> block(with(path, name), all));
        } else if (isBlock && (!inside.isEmpty() || ALWAYS.contains(path.get(0)))) {
            block(path, all);
        } else if (!inside.isEmpty()) {
            given.stream()
                    .filter(each -> begins(each.path(), path))
                    .forEach(each -> all.add(setting(each.path(), each.value(), row, each.origin())));
        } else if (!row.unlessGiven().isEmpty()) {
            all.add(setting(path, row.unlessGiven(), row, NOT_GIVEN));
        }
    }

    private void block(List<String> path, List<Setting> all) {
        rows.stream()
                .filter(row -> row.isIn(path))
                .forEach(row -> add(with(path, row.path().get(path.size())), row, all));
    }

    private static Setting setting(List<String> path, String value, Row row, String origin) {
        return new Setting(String.join(".", path), value, row.unlessGiven(), origin, "", "docs/" + row.page());
    }

    private static List<String> with(List<String> path, String name) {
        List<String> longer = new ArrayList<>(path);
        longer.add(name);
        return longer;
    }

    private static boolean begins(List<String> path, List<String> with) {
        return path.size() >= with.size() && fits(with, path.subList(0, with.size()));
    }

    private static boolean fits(List<String> pattern, List<String> path) {
        for (int i = 0; i < pattern.size(); i++) {
            if (!pattern.get(i).equals(ANY) && !pattern.get(i).equals(path.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static List<Row> rows() {
        try (InputStream in = Objects.requireNonNull(SettingList.class.getResourceAsStream("unless_given.tsv"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.split("\t", -1))
                    .map(cells -> new Row(List.of(cells[0].split("\\.")), cells[1], cells[2]))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
