package io.postroom.server.message;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** Makes plugin jars as a user's build would. */
public final class PluginJar {
    static final String SERVICE = "META-INF/services/io.postroom.message.UpcasterSource";

    private PluginJar() {}

    /** A jar with one source in the package {@code acme}, whose {@code register} has the given body. */
    public static Path of(Path folder, String className, String body) throws IOException {
        return withClass(
                folder,
                className,
                "@Override public void register(io.postroom.message.Upcasters.Builder upcasters) {" + body + "}");
    }

    /** A jar with one source in the package {@code acme}, whose class has the given members. */
    static Path withClass(Path folder, String className, String members) throws IOException {
        Path classes = Files.createTempDirectory(folder, "classes");
        compile(
                classes,
                className,
                "package acme; import io.postroom.message.*; public final class " + className
                        + " implements UpcasterSource {" + members + "}");
        Path jar = folder.resolve(className + ".jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                put(out, classes.relativize(file).toString().replace('\\', '/'), Files.readAllBytes(file));
            }
            put(
                    out,
                    SERVICE,
                    ("# The upcasters of acme.\nacme." + className + " # all\n\n").getBytes(StandardCharsets.UTF_8));
        }
        return jar;
    }

    /** A jar that only names a source. */
    static Path naming(Path jar, String names) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            put(out, SERVICE, names.getBytes(StandardCharsets.UTF_8));
        }
        return jar;
    }

    private static void compile(Path classes, String className, String source) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///" + className + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
            if (!compiler.getTask(errors, files, null, List.of("-proc:none"), null, List.of(file))
                    .call()) {
                throw new IllegalStateException(errors.toString());
            }
        }
    }

    private static void put(JarOutputStream jar, String name, byte[] bytes) throws IOException {
        jar.putNextEntry(new JarEntry(name));
        jar.write(bytes);
        jar.closeEntry();
    }
}
