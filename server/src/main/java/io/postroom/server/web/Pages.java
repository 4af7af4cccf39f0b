package io.postroom.server.web;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.TemplateOutput;
import gg.jte.output.StringOutput;
import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.audit.Audit;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes pages from templates that were compiled with the program. What a template is given is text, never markup. Thread-safe. */
public final class Pages {
    private final TemplateEngine templates = TemplateEngine.createPrecompiled(
            null, ContentType.Html, Pages.class.getClassLoader(), "io.postroom.server.web.template");
    private final WebSettings settings;
    private final Assets assets;
    private volatile List<Page.Part> parts = Page.PARTS;
    private final Clock clock;

    Pages(WebSettings settings, Assets assets, Clock clock) {
        this.settings = settings;
        this.assets = assets;
        this.clock = clock;
    }

    /** What a page of one part of the console knows. */
    /** Adds a part to the console, after the others. Only while features are added. */
    public void add(Page.Part part) {
        parts = Stream.concat(parts.stream(), Stream.of(part)).toList();
    }

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
                settings.hasUsers() && !Gate.isProxied(context),
                Gate.formToken(context),
                clock.instant(),
                parts);
    }

    /** How much of payloads is shown here. */
    public Payloads payloads() {
        return settings.payloads();
    }

    /** What is shown of something that a message or a job carries; null if nothing is. */
    public @Nullable String carried(@Nullable String json) {
        return payloads().carried(json);
    }

    /** Refuses what would show, or let guess, values that are masked here. */
    public void requireShown() {
        if (payloads() != Payloads.SHOWN) {
            throw new Refusal(
                    403,
                    "payload.masked",
                    "payloads are " + payloads().word() + " here"
                            + (payloads() == Payloads.MASKED ? "; operators reveal one with a reason" : ""));
        }
    }

    /** Notes in the audit that somebody reveals what is masked; throws if nobody may, or if it cannot be noted. */
    public void reveal(Postroom acting, Context context, String subject, @Nullable String reason) {
        if (payloads() == Payloads.HIDDEN) {
            requireShown();
        }
        String why = Asked.required(reason, "reason");
        List<String> problems = Audit.problems(Gate.user(context).name(), why);
        if (!problems.isEmpty()) {
            throw Refusal.invalid(String.join("; ", problems));
        }
        acting.database().transactPromptly(tx -> {
            acting.audit().record(tx, Gate.user(context).name(), "payload reveal", subject, why, Map.of());
            return true;
        });
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
