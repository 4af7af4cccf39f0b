package io.postroom.server.web;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.postroom.Postroom;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Where features enter their pages and calls. */
public final class Routes {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final RoutesConfig routes;
    private final Pages pages;
    private final Deeds deeds;
    private final ApiDocument document;
    private final EventStreams streams;
    private final List<String> reads;

    Routes(
            RoutesConfig routes,
            Pages pages,
            Deeds deeds,
            ApiDocument document,
            EventStreams streams,
            List<String> reads) {
        this.routes = routes;
        this.pages = pages;
        this.deeds = deeds;
        this.document = document;
        this.streams = streams;
        this.reads = reads;
    }

    public Pages pages() {
        return pages;
    }

    /** A page. */
    public Routes page(String path, Handler handler) {
        routes.get(path, handler);
        reads.add(path);
        return this;
    }

    /** Does what a form asks for, and says which page of ours shows it. */
    @FunctionalInterface
    public interface Act {
        String act(Context context) throws Exception;
    }

    /** The same, with a Postroom whose changes are committed together with the key of the form. */
    @FunctionalInterface
    public interface OnceAct {
        String act(Context context, Postroom acting);
    }

    /**
     * What a form of a page does. It ends with a redirect, so that reloading does nothing again; and a form that is sent twice, by
     * whatever means, leads to the same page and does nothing again either.
     */
    public Routes actOnce(String path, OnceAct act) {
        return act(path, context -> {
            String id = Asked.required(Asked.formText(context, "id"), "id");
            return deeds.once(user(context).name(), "form " + id, context.path(), acting -> act.act(context, acting));
        });
    }

    /** What a form of a page does that has an identity of its own, by which it is done once. */
    public Routes act(String path, Act act) {
        Permission needed = Permission.of(path);
        routes.post(path, context -> {
            require(context, needed);
            context.redirect(context.contextPath() + act.act(context));
        });
        return this;
    }

    /** A page that is shown to who says why; nothing is led away from it, so that what it shows is in no address. */
    public Routes reveal(String path, Handler handler) {
        Permission needed = Permission.of(path);
        routes.post(path, context -> {
            require(context, needed);
            handler.handle(context);
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
        Set<String> names = document.queryNames("GET", path);
        reads.add(ApiDocument.ROOT + path);
        routes.get(ApiDocument.ROOT + path, context -> {
            Asked.only(context, names);
            send(context, JSON.writeValueAsBytes(call.answer(context)));
        });
        return this;
    }

    /** Sends what is new to one viewer, about once a second, until it ends. */
    @FunctionalInterface
    public interface Watch {
        void step(EventStream stream) throws IOException;

        /** Nobody watches any more. */
        default void end() {}
    }

    /** Begins to show something to one viewer; refuses what cannot be watched. */
    @FunctionalInterface
    public interface Watching {
        Watch begin(Context context);
    }

    /** A call that is answered for as long as somebody watches. */
    public Routes stream(String path, Watching watching) {
        Set<String> names = document.queryNames("GET", path);
        routes.get(ApiDocument.ROOT + path, context -> {
            Asked.only(context, names);
            streams.run(context, watching);
        });
        return this;
    }

    /** Answers a call, with a Postroom whose changes are committed together with the key of the call. */
    @FunctionalInterface
    public interface OnceCall {
        Object answer(Context context, Postroom acting);
    }

    /** A call that changes something, once for each key. */
    public Routes once(String path, OnceCall call) {
        Set<String> names = document.queryNames("POST", path);
        Permission needed = Permission.of(path);
        routes.post(ApiDocument.ROOT + path, context -> {
            require(context, needed);
            Asked.only(context, names);
            String asked = context.path() + " " + Gate.hash(context.body());
            String answer = deeds.once(
                    user(context).name(),
                    "call " + Acting.key(context),
                    asked,
                    acting -> JSON.writeValueAsString(call.answer(context, acting)),
                    () -> context.header("Idempotent-Replayed", "true"));
            send(context, answer.getBytes(StandardCharsets.UTF_8));
        });
        return this;
    }

    /** A call that changes something, and that has an identity of its own by which it is done once. */
    public Routes change(String path, Call call) {
        Set<String> names = document.queryNames("POST", path);
        Permission needed = Permission.of(path);
        routes.post(ApiDocument.ROOT + path, context -> {
            require(context, needed);
            Asked.only(context, names);
            send(context, JSON.writeValueAsBytes(call.answer(context)));
        });
        return this;
    }

    /** Refuses who may not. */
    public static void require(Context context, Permission permission) {
        User user = user(context);
        if (!user.may(permission)) {
            throw new Refusal(
                    403,
                    "request.forbidden",
                    "user " + user.name() + " is " + user.role().word() + ", which may not " + permission.word()
                            + "; nothing was done");
        }
    }

    /** Who asks. */
    public static User user(Context context) {
        return Gate.user(context);
    }

    private static void send(Context context, byte[] json) {
        context.contentType("application/json").result(json);
    }
}
