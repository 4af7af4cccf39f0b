package io.postroom.server.web;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The page where those who have a token sign in, and the way to it. */
final class SignIn {
    /** A path of ours: two slashes, or one and its mirror, would be another site. */
    private static final String LOCAL = "/(?![/\\\\])[\\x21-\\x7e&&[^\\\\]]*";

    private static final int TO_LENGTH_MAX = 2_000;

    private final Gate gate;
    private final Pages pages;

    SignIn(Gate gate, Pages pages) {
        this.gate = gate;
        this.pages = pages;
    }

    void add(RoutesConfig routes) {
        routes.get("/sign-in", this::come);
        routes.post("/sign-in", this::signIn);
        routes.post("/sign-out", context -> {
            gate.signOut(context);
            context.redirect(context.contextPath() + "/sign-in");
        });
    }

    /** Leads whoever is not signed in to the page where one signs in, and from there to what was asked for. */
    static void lead(Context context, Pages pages) {
        String query = context.queryString();
        String asked = context.path().substring(context.contextPath().length()) + (query == null ? "" : "?" + query);
        String to = context.contextPath() + "/sign-in"
                + (asked.equals("/") || !isLocal(asked)
                        ? ""
                        : "?to=" + URLEncoder.encode(asked, StandardCharsets.UTF_8));
        if (context.header("HX-Request") != null) {
            // A part of a page cannot be replaced by this one.
            context.header("HX-Redirect", to);
        } else if (Gate.isForeign(context)) {
            // A redirect would still count as the other site's, and come without the cookie that may be there.
            context.status(200);
            pages.show(context, "arrive", pages.page(context, "Postroom", ""), "to", to);
        } else {
            context.redirect(to);
        }
    }

    private void come(Context context) {
        String token = context.queryParam("token");
        boolean isIn = gate.isLocal() && token != null
                ? gate.signIn(context, token.strip())
                : Gate.userOrNull(context) != null;
        if (isIn) {
            context.redirect(context.contextPath() + to(context.queryParam("to")));
        } else {
            show(context, to(context.queryParam("to")), "");
        }
    }

    private void signIn(Context context) {
        String token = context.formParam("token");
        String to = to(context.formParam("to"));
        if (token != null && gate.signIn(context, token.strip())) {
            context.redirect(context.contextPath() + to);
            return;
        }
        context.status(401);
        show(context, to, "nobody has this token; ask whoever runs this server");
    }

    private static String to(@Nullable String given) {
        return given != null && isLocal(given) ? given : "/";
    }

    private static boolean isLocal(String path) {
        return path.length() <= TO_LENGTH_MAX && path.matches(LOCAL);
    }

    private void show(Context context, String to, String problem) {
        pages.show(
                context,
                "sign-in",
                pages.page(context, "Sign in", ""),
                "problem",
                problem,
                "to",
                to,
                "isLocal",
                gate.isLocal());
    }
}
