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

    Routes(RoutesConfig routes, Pages pages) {
        this.routes = routes;
        this.pages = pages;
    }

    public Pages pages() {
        return pages;
    }

    /** A page. */
    public Routes page(String path, Handler handler) {
        routes.get(path, handler);
        return this;
    }

    /** What a form of a page does; it ends with a redirect, so that reloading does nothing again. */
    public Routes act(String path, Handler handler) {
        routes.post(path, handler);
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

    /** A call that changes something. */
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
