package io.postroom.server.web;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/** Style and script, from the program itself: nothing is fetched from elsewhere. Their folder is named after what is in them. */
final class Assets {
    private static final Map<String, String> TYPES =
            Map.of("css", "text/css; charset=utf-8", "js", "text/javascript; charset=utf-8", "svg", "image/svg+xml");

    private final Map<String, byte[]> files = new LinkedHashMap<>();
    private final String version;

    Assets() {
        for (String name : new String[] {"console.css", "console.js", "theme.js", "icon.svg"}) {
            files.put(name, read("/io/postroom/server/web/" + name));
        }
        files.put("htmx.js", read("/META-INF/resources/webjars/htmx.org/" + htmxVersion() + "/dist/htmx.min.js"));
        StringBuilder all = new StringBuilder();
        files.forEach(
                (name, bytes) -> all.append(Gate.hash(new String(bytes, java.nio.charset.StandardCharsets.UTF_8))));
        version = Gate.hash(all.toString()).substring(0, 12);
    }

    String version() {
        return version;
    }

    void serve(Context context) {
        String name = context.pathParam("name");
        byte[] bytes = files.get(name);
        if (bytes == null) {
            throw Refusal.missing("there is no such file");
        }
        boolean isCurrent = context.pathParam("version").equals(version);
        context.header("Cache-Control", isCurrent ? "public, max-age=31536000, immutable" : "no-store");
        context.contentType(TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "application/octet-stream"));
        context.result(bytes);
    }

    private static String htmxVersion() {
        Properties properties = new Properties();
        try (InputStream stream = open("/META-INF/maven/org.webjars.npm/htmx.org/pom.properties")) {
            properties.load(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("version");
    }

    private static byte[] read(String path) {
        try (InputStream stream = open(path)) {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InputStream open(String path) {
        InputStream stream = Assets.class.getResourceAsStream(path);
        if (stream == null) {
            throw new IllegalStateException(path + " is missing in the program");
        }
        return stream;
    }
}
