package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.message.Message;
import io.postroom.message.Reading;
import io.postroom.message.Upcasters;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpcasterPluginsTest {
    @TempDir
    Path folder;

    @Test
    void findsNothingWhereThereIsNothing() {
        assertThat(UpcasterPlugins.load(List.of())).isSameAs(Upcasters.NONE);
    }

    @Test
    void readsThroughTheUpcastersOfAllJars() throws IOException {
        Path orders = PluginJar.of(
                folder,
                "Orders",
                "upcasters.add(\"order.placed\", 1, Upcaster.json(order -> order.put(\"currency\", \"EUR\")));");
        Path more = PluginJar.of(
                folder,
                "More",
                "upcasters.add(\"order.placed\", 2, payload -> \"[\" + payload + \"]\").newest(\"paid\", 7);");
        Upcasters upcasters = UpcasterPlugins.load(List.of(orders, more, orders));
        assertThat(upcasters.read(message("order.placed", 1))).isInstanceOfSatisfying(Reading.Read.class, read -> {
            assertThat(read.message().payload()).isEqualTo("[{\"currency\":\"EUR\"}]");
            assertThat(read.message().eventVersion()).isEqualTo(3);
        });
        assertThat(upcasters.read(message("paid", 8))).isEqualTo(new Reading.TooNew(8, 7));
    }

    @Test
    void loadsClassesOfAJarLongAfterItWasOpened() throws IOException {
        Path jar = PluginJar.withClass(
                folder,
                "Lazy",
                "static final class Late { static String text() { return \"\\\"late\\\"\"; } }"
                        + "@Override public void register(Upcasters.Builder upcasters) {"
                        + "upcasters.add(\"order.placed\", 1, payload -> Late.text()); }");
        assertThat(((Reading.Read) UpcasterPlugins.load(List.of(jar)).read(message("order.placed", 1)))
                        .message()
                        .payload())
                .isEqualTo("\"late\"");
    }

    @Test
    void takesAJarWithoutUpcastersForALibrary() throws IOException {
        Path library = folder.resolve("library.jar");
        Files.move(PluginJar.naming(folder.resolve("empty.jar"), "# nothing\n"), library);
        assertThat(UpcasterPlugins.load(List.of(library)).isEmpty()).isTrue();
    }

    @Test
    void saysEverythingThatIsWrongWithTheFiles() throws IOException {
        Path text = Files.writeString(folder.resolve("text.jar"), "not a jar");
        Path nothing = Files.createFile(folder.resolve("nothing.jar"));
        Path missing = folder.resolve("missing.jar");
        Path one = PluginJar.naming(folder.resolve("one.jar"), "acme.Same\n");
        Path two = PluginJar.naming(folder.resolve("two.jar"), "  acme.Same # again\n");
        assertThat(problems(missing, folder, text, nothing, one, two))
                .startsWith("could not load plugins: ")
                .contains(missing + " does not exist;")
                .contains(folder + " is not a file, name the jars in it one by one;")
                .contains(text + " is not a jar;")
                .contains(nothing + " is not a jar;")
                .contains("acme.Same is in " + one + " and in " + two + ", keep one");
    }

    @Test
    void hasALimitOfJars() {
        assertThat(problems(Collections.nCopies(101, folder).toArray(Path[]::new)))
                .isEqualTo("could not load plugins: there are 101 jars, the limit is 100");
    }

    @Test
    void saysEverythingThatIsWrongWithTheSources() throws IOException {
        Path gone = PluginJar.naming(folder.resolve("gone.jar"), "acme.Gone\n");
        Path wrong = PluginJar.naming(folder.resolve("wrong.jar"), "picocli.CommandLine\n");
        Path syntax = PluginJar.naming(folder.resolve("syntax.jar"), "two words\n");
        Path constructor = PluginJar.withClass(
                folder,
                "Constructor",
                "public Constructor() { throw new IllegalStateException(\"no licence\"); }"
                        + "@Override public void register(Upcasters.Builder upcasters) {}");
        Path register =
                PluginJar.of(folder, "Register", "throw new UnsupportedOperationException(\"not\\u001b here\");");
        Path linkage = PluginJar.of(folder, "Linkage", "throw new NoSuchMethodError(\"old library\");");
        assertThat(problems(gone, wrong, syntax, constructor, register, linkage))
                .startsWith("could not load plugins: ")
                .contains(": Provider acme.Gone not found; ")
                .contains("picocli.CommandLine not a subtype")
                .contains("syntax.jar!")
                .contains(":1: Illegal configuration-file syntax; ")
                .contains("acme.Constructor could not be instantiated, java.lang.IllegalStateException: no licence")
                .contains("acme.Register: java.lang.UnsupportedOperationException: not\\u001b here")
                .contains("acme.Linkage: java.lang.NoSuchMethodError: old library");
    }

    @Test
    void saysWhatTheChainsLack() throws IOException {
        Path one = PluginJar.of(folder, "One", "upcasters.add(\"order.placed\", 1, Upcaster.unchanged());");
        Path two = PluginJar.of(
                folder,
                "Two",
                "upcasters.add(\"order.placed\", 1, Upcaster.unchanged()).add(\"paid\", 1, Upcaster.unchanged()).newest(\"paid\", 9);");
        assertThat(problems(one, two))
                .isEqualTo("could not build upcasters: order.placed has two steps from version 1, keep one;"
                        + " paid has no steps from versions 2 to 8");
    }

    private static String problems(Path... jars) {
        CommandException e =
                catchThrowableOfType(CommandException.class, () -> UpcasterPlugins.load(Arrays.asList(jars)));
        assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE);
        return e.getMessage();
    }

    private static Message message(String eventType, int version) {
        return Message.about("order", "o1")
                .event(eventType)
                .eventVersion(version)
                .payload("{}")
                .build();
    }
}
