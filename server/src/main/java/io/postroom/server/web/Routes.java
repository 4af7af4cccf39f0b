package io.postroom.server.web;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Where features enter their pages and calls. */
public final class Routes {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String CALLS = "/api/v1";

    private final RoutesConfig routes;
    private final Pages pages;
    private final Deeds deeds;

    Routes(RoutesConfig routes, Pages pages, Deeds deeds) {
        this.routes = routes;
        this.pages = pages;
        this.deeds = deeds;
    }

    public Pages pages() {
        return pages;
    }

    /** A page. */
    public Routes page(String path, Handler handler) {
        routes.get(path, handler);
        return this;
    }

    /** Does what a form asks for, and says which page of ours shows it. */
    @FunctionalInterface
    public interface Act {
        String act(Context context) throws Exception;
    }

    /**
     * What a form of a page does. It ends with a redirect, so that reloading does nothing again; and a form that is sent twice, by
     * whatever means, leads to the same page and does nothing again either.
     */
    public Routes act(String path, Act act) {
        routes.post(path, context -> {
            String id = Asked.formText(context, "id");
            String to = id == null
                    ? act.act(context)
                    : deeds.once(user(context).name() + " form " + id, context.path(), () -> act.act(context));
            context.redirect(context.contextPath() + to);
        });
        return this;
    }

    /** Answers a call with a value as JSON. */
    @FunctionalInterface
    public interface Call {
        @Nullable
        Object answer(Context context) throws Exception;
    }

    /** A call that only reads. */
    public Routes call(String path, Call call) {
        routes.get(CALLS + path, context -> send(context, call.answer(context)));
        return this;
    }

    /** A call that changes something, once for each key. */
    public Routes once(String path, Call call) {
        routes.post(CALLS + path, context -> {
            String key = user(context).name() + " call " + Acting.key(context);
            String asked = context.path() + " " + Gate.hash(context.body());
            send(context, deeds.once(key, asked, () -> JSON.writeValueAsString(call.answer(context))));
        });
        return this;
    }

    /** A call that changes something, and that has an identity of its own by which it is done once. */
    public Routes change(String path, Call call) {
        routes.post(CALLS + path, context -> send(context, call.answer(context)));
        return this;
    }

    /** Who asks. */
    public static User user(Context context) {
        return Gate.user(context);
    }

    private static void send(Context context, @Nullable Object value) {
        context.contentType("application/json");
        context.result(
                value instanceof String text
                        ? text.getBytes(java.nio.charset.StandardCharsets.UTF_8)
                        : JSON.writeValueAsBytes(value));
    }
}
