package io.postroom.server.web;

import io.javalin.http.Context;
import io.javalin.http.Cookie;
import io.javalin.http.HandlerType;
import io.javalin.http.SameSite;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What every request passes first.
 *
 * <p>Without accounts only names of this machine are answered: a page of the internet whose name was made to point here ("DNS
 * rebinding") asks under its own name. What changes something must come from a page of ours: browsers say where a request comes from,
 * and a form carries a token that only our pages know.
 */
final class Gate {
    private static final String USER = "postroom.user";
    private static final String FORM_TOKEN = "postroom.form-token";
    private static final String BEARER = "Bearer ";
    private static final int TOKEN_LENGTH_MAX = 200;
    private static final Set<HandlerType> READING = Set.of(HandlerType.GET, HandlerType.HEAD, HandlerType.OPTIONS);

    private final WebSettings settings;
    private final Session session;
    private final User local;

    Gate(WebSettings settings, Session session) {
        this.settings = settings;
        this.session = session;
        String name = System.getProperty("user.name", "");
        this.local = new User(name.isBlank() ? "console" : name, settings.readOnly() ? Role.VIEWER : Role.OPERATOR);
    }

    /** Sets the headers that keep browsers from doing what we did not ask for. */
    static void harden(Context context) {
        context.header(
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
                        + "frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
        context.header("X-Content-Type-Options", "nosniff");
        context.header("X-Frame-Options", "DENY");
        // Not no-referrer: browsers would then hide the origin of our own forms, which we check.
        context.header("Referrer-Policy", "same-origin");
        context.header("Cross-Origin-Opener-Policy", "same-origin");
        context.header("Cross-Origin-Resource-Policy", "same-origin");
        context.header("Cache-Control", "no-store");
    }

    /** Lets a request in, or throws. */
    void admit(Context context, boolean isCall) {
        requireKnownHost(context);
        Session.Ticket ticket = cookie(context);
        User user = isCall && settings.needsSignIn() ? bearer(context).orElseGet(() -> user(ticket)) : user(ticket);
        boolean isSignIn = context.path().equals(context.contextPath() + "/sign-in");
        if (user == null && !isSignIn) {
            throw new Refusal(401, "request.unauthorized", "sign in first, or send a token as Authorization: Bearer …");
        }
        Session.Ticket known = ticket;
        if (known == null && !isCall) {
            String issued = session.issue("");
            send(context, issued);
            known = session.read(issued).orElseThrow();
        }
        if (known != null) {
            context.attribute(FORM_TOKEN, session.formToken(known));
        }
        if (user != null) {
            context.attribute(USER, user);
        }
        if (!READING.contains(context.method())) {
            requireOurs(context, isCall, ticket);
            if (user != null && !user.mayAct() && !isSignIn) {
                throw new Refusal(
                        403,
                        "request.forbidden",
                        settings.readOnly()
                                ? "nothing can be changed here: console.read-only is true"
                                : "user " + user.name() + " is a viewer; operators and admins may change things");
            }
        }
    }

    static User user(Context context) {
        User user = context.attribute(USER);
        if (user == null) {
            throw new IllegalStateException("a request without a user was let in");
        }
        return user;
    }

    static @Nullable User userOrNull(Context context) {
        return context.attribute(USER);
    }

    static String formToken(Context context) {
        String token = context.attribute(FORM_TOKEN);
        return token == null ? "" : token;
    }

    /** Signs in with a token; says whether somebody has it. */
    boolean signIn(Context context, String token) {
        String hash = hash(token);
        if (token.length() > TOKEN_LENGTH_MAX || !settings.accounts().containsKey(hash)) {
            return false;
        }
        send(context, session.issue(hash));
        return true;
    }

    void signOut(Context context) {
        send(context, session.issue(""));
    }

    private void send(Context context, String value) {
        String path = context.contextPath().isEmpty() ? "/" : context.contextPath();
        int age = (int) Session.LIFETIME.toSeconds();
        context.cookie(new Cookie(Session.COOKIE, value, path, age, settings.https(), true, null, SameSite.STRICT));
    }

    private void requireKnownHost(Context context) {
        String host = context.header("Host");
        if (settings.needsSignIn() || host == null) {
            return;
        }
        String name = host.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
        if (!WebSettings.LOOPBACK.contains(name)) {
            throw new Refusal(
                    421,
                    "request.host-unknown",
                    "this server is for its own machine; ask for http://localhost instead");
        }
    }

    private Session.@Nullable Ticket cookie(Context context) {
        String cookie = context.cookie(Session.COOKIE);
        return cookie == null ? null : session.read(cookie).orElse(null);
    }

    private @Nullable User user(Session.@Nullable Ticket ticket) {
        if (!settings.needsSignIn()) {
            return local;
        }
        return ticket == null ? null : ofAccount(ticket.account());
    }

    private @Nullable User ofAccount(String account) {
        User user = settings.accounts().get(account);
        return user == null || !settings.readOnly() ? user : new User(user.name(), Role.VIEWER);
    }

    private Optional<User> bearer(Context context) {
        String header = context.header("Authorization");
        if (header == null || !header.startsWith(BEARER) || header.length() > TOKEN_LENGTH_MAX) {
            return Optional.empty();
        }
        return Optional.ofNullable(
                ofAccount(hash(header.substring(BEARER.length()).strip())));
    }

    private void requireOurs(Context context, boolean isCall, Session.@Nullable Ticket ticket) {
        String site = context.header("Sec-Fetch-Site");
        boolean isForeign = site != null && !site.equals("same-origin") && !site.equals("none");
        if (isForeign || !isOurOrigin(context.header("Origin"), context.header("Host"))) {
            throw new Refusal(
                    403, "request.foreign", "the request comes from a page of another site; nothing was done");
        }
        if (isCall) {
            String type = context.contentType();
            if (type == null || !type.toLowerCase(Locale.ROOT).startsWith("application/json")) {
                throw new Refusal(415, "request.not-json", "send the body as application/json");
            }
            return;
        }
        String token = context.formParam("formToken");
        if (ticket == null || token == null || !session.isFormToken(ticket, token)) {
            throw new Refusal(
                    403,
                    "request.form-token",
                    "this form is too old, or not ours; nothing was done: reload the page and try again");
        }
    }

    private static boolean isOurOrigin(@Nullable String origin, @Nullable String host) {
        if (origin == null) {
            return true;
        }
        try {
            return host != null && host.equalsIgnoreCase(URI.create(origin).getAuthority());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    static String hash(String token) {
        try {
            byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
