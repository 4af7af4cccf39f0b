package io.postroom.server.message;

import io.postroom.PostroomException;
import io.postroom.message.UpcasterSource;
import io.postroom.message.Upcasters;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * Finds the upcasters of a system: every {@link UpcasterSource} on the class path and in the jars of the setting {@code plugins}.
 *
 * <p>A jar runs with all the rights of this process. Its classes are loaded when they are first needed, so the jars stay open until the
 * process ends and must not be replaced meanwhile.
 */
public final class UpcasterPlugins {
    private static final int SOURCES_MAX = 1_000;
    private static final int TEXT_LENGTH_MAX = 300;

    private UpcasterPlugins() {}

    /** All upcasters, or an error with every problem of the same kind: jars first, then their sources, then the chains. */
    public static Upcasters load(List<Path> jars) {
        PluginJars.check(jars);
        ClassLoader own = UpcasterPlugins.class.getClassLoader();
        if (jars.isEmpty()) {
            return register(own);
        }
        URLClassLoader loader = new URLClassLoader("postroom-plugins", urls(jars), own);
        try {
            return register(loader);
        } catch (CommandException e) {
            close(loader);
            throw e;
        }
    }

    private static Upcasters register(ClassLoader loader) {
        Upcasters.Builder builder = Upcasters.builder();
        List<String> problems = new ArrayList<>();
        Iterator<UpcasterSource> sources =
                ServiceLoader.load(UpcasterSource.class, loader).iterator();
        int count = 0;
        // Ends with the sources; each turn takes one, or a name in a jar that is none.
        while (count <= SOURCES_MAX && registerNext(sources, builder, problems)) {
            count++;
        }
        if (count > SOURCES_MAX) {
            problems.add("there are more than " + SOURCES_MAX + " sources, the limit");
        }
        if (!problems.isEmpty()) {
            throw unusable(problems);
        }
        try {
            return builder.build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    /** False if there is none any more. */
    private static boolean registerNext(
            Iterator<UpcasterSource> sources, Upcasters.Builder builder, List<String> problems) {
        String name = "a source";
        try {
            if (!sources.hasNext()) {
                return false;
            }
            UpcasterSource source = sources.next();
            name = source.getClass().getName();
            source.register(builder);
        } catch (ServiceConfigurationError e) {
            // The service's own name stands before what is wrong with it.
            String said = String.valueOf(e.getMessage()).replace(UpcasterSource.class.getName() + ": ", "");
            problems.add(Quoted.text(said, TEXT_LENGTH_MAX) + (e.getCause() == null ? "" : ", " + text(e.getCause())));
        } catch (RuntimeException | LinkageError e) {
            problems.add(name + ": " + text(e));
        }
        return true;
    }

    static CommandException unusable(List<String> problems) {
        return new CommandException(ExitCode.USAGE, "could not load plugins: " + String.join("; ", problems));
    }

    private static String text(Throwable e) {
        String text = e.getClass().getName() + (e.getMessage() == null ? "" : ": " + e.getMessage());
        return Quoted.text(text, TEXT_LENGTH_MAX);
    }

    private static URL[] urls(List<Path> jars) {
        URL[] urls = new URL[jars.size()];
        for (int i = 0; i < urls.length; i++) {
            try {
                urls[i] = jars.get(i).toUri().toURL();
            } catch (MalformedURLException e) {
                throw new IllegalStateException(e);
            }
        }
        return urls;
    }

    private static void close(URLClassLoader loader) {
        try {
            loader.close();
        } catch (IOException e) {
            // The reason for giving up is the one to see.
        }
    }
}
