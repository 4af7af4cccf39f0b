package io.postroom.server.web;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;

/** The page where those who have a token sign in. */
final class SignIn {
    private final Gate gate;
    private final Pages pages;

    SignIn(Gate gate, Pages pages) {
        this.gate = gate;
        this.pages = pages;
    }

    void add(RoutesConfig routes) {
        routes.get("/sign-in", context -> show(context, ""));
        routes.post("/sign-in", this::signIn);
        routes.post("/sign-out", context -> {
            gate.signOut(context);
            context.redirect(context.contextPath() + "/sign-in");
        });
    }

    private void signIn(Context context) {
        String token = context.formParam("token");
        if (token != null && gate.signIn(context, token.strip())) {
            context.redirect(context.contextPath() + "/");
            return;
        }
        context.status(401);
        show(context, "nobody has this token; ask whoever runs this server");
    }

    private void show(Context context, String problem) {
        pages.show(context, "sign-in", pages.page(context, "Sign in", ""), "problem", problem);
    }
}
