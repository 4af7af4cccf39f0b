package io.postroom.server.web;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.TemplateOutput;
import gg.jte.output.StringOutput;
import io.javalin.http.Context;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes pages from templates that were compiled with the program. What a template is given is text, never markup. Thread-safe. */
public final class Pages {
    private final TemplateEngine templates = TemplateEngine.createPrecompiled(
            null, ContentType.Html, Pages.class.getClassLoader(), "io.postroom.server.web.template");
    private final WebSettings settings;
    private final Assets assets;
    private final Clock clock;

    Pages(WebSettings settings, Assets assets, Clock clock) {
        this.settings = settings;
        this.assets = assets;
        this.clock = clock;
    }

    /** What a page of one part of the console knows. */
    public Page page(Context context, String title, String place) {
        Map<String, String> query = new LinkedHashMap<>();
        // The first, as the query reads it; names that are given twice are refused where they are read.
        context.queryParamMap().forEach((name, values) -> query.put(name, values.get(0)));
        String base = context.contextPath();
        return new Page(
                title,
                place,
                base,
                base + "/assets/" + assets.version(),
                context.path().substring(base.length()),
                query,
                settings.environment(),
                Gate.userOrNull(context),
                settings.hasUsers(),
                Gate.formToken(context),
                clock.instant());
    }

    /** Answers with a text to keep, which no browser shows or takes for something else. */
    public static void download(Context context, String name, String text) {
        context.header("Content-Disposition", "attachment; filename=\"" + name + "\"");
        context.contentType("application/octet-stream").result(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Answers with a template; names and values are its parameters, besides the page. */
    public void show(Context context, String template, Page page, @Nullable Object... parameters) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put("page", page);
        for (int i = 0; i + 1 < parameters.length; i += 2) {
            values.put(String.valueOf(parameters[i]), parameters[i + 1]);
        }
        TemplateOutput output = new StringOutput();
        templates.render(template + ".jte", values, output);
        context.contentType("text/html; charset=utf-8").result(output.toString());
    }
}
