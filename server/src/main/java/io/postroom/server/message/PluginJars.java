package io.postroom.server.message;

import io.postroom.message.UpcasterSource;
import io.postroom.server.terminal.CommandException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** The jars of the setting {@code plugins}, looked at before anything of them is run. */
final class PluginJars {
    static final int JARS_MAX = 100;

    private static final String NAMES = "META-INF/services/" + UpcasterSource.class.getName();

    private final Map<String, Path> jarOf = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    private PluginJars() {}

    /** Throws a {@link CommandException} with every problem. A jar without a source is none: it may be a library of another. */
    static void check(List<Path> jars) {
        PluginJars plugins = new PluginJars();
        if (jars.size() > JARS_MAX) {
            throw UpcasterPlugins.unusable(List.of("there are " + jars.size() + " jars, the limit is " + JARS_MAX));
        }
        Set<Path> different = new LinkedHashSet<>();
        jars.forEach(jar -> different.add(jar.toAbsolutePath().normalize()));
        different.forEach(plugins::look);
        if (!plugins.problems.isEmpty()) {
            throw UpcasterPlugins.unusable(plugins.problems);
        }
    }

    private void look(Path jar) {
        if (!Files.exists(jar)) {
            problems.add(jar + " does not exist");
        } else if (!Files.isRegularFile(jar)) {
            problems.add(jar + " is not a file, name the jars in it one by one");
        } else if (!Files.isReadable(jar)) {
            problems.add(jar + " cannot be read, check its rights");
        } else {
            open(jar);
        }
    }

    private void open(Path jar) {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            ZipEntry names = zip.getEntry(NAMES);
            if (names != null) {
                try (BufferedReader lines =
                        new BufferedReader(new InputStreamReader(zip.getInputStream(names), StandardCharsets.UTF_8))) {
                    lines.lines()
                            .map(line -> line.replaceFirst("#.*", "").strip())
                            .filter(name -> !name.isEmpty())
                            .distinct()
                            .forEach(name -> found(jar, name));
                }
            }
        } catch (ZipException e) {
            problems.add(jar + " is not a jar");
        } catch (IOException e) {
            problems.add(jar + " cannot be read: " + e.getClass().getSimpleName());
        }
    }

    /** Of two jars with the same class, Java would take the first and say nothing. */
    private void found(Path jar, String name) {
        Path other = jarOf.putIfAbsent(name, jar);
        if (other != null) {
            problems.add(name + " is in " + other + " and in " + jar + ", keep one");
        }
    }
}
