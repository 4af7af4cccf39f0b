package io.postroom.server.web;

import io.javalin.http.Context;
import io.javalin.http.Cookie;
import io.javalin.http.HandlerType;
import io.javalin.http.SameSite;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What every request passes first.
 *
 * <p>Without users only names of this machine are answered: a page of the internet whose name was made to point here ("DNS
 * rebinding") asks under its own name. Pages of other sites may lead here, and do nothing else: browsers say where a request comes from.
 * What changes something must come from a page of ours: its form carries a token that only our pages know.
 *
 * <p>Browsers keep our cookies back when a link of another site is followed. Who comes so gets a page that asks again, from here, and
 * the ticket of the form to sign in has a cookie of its own: a link never takes a sign-in away.
 */
final class Gate {
    private static final Logger LOG = LoggerFactory.getLogger(Gate.class);
    private static final String USER = "postroom.user";
    private static final String BY_SESSION = "postroom.by-session";
    private static final String PROXIED = "postroom.proxied";
    private static final String FORM_TOKEN = "postroom.form-token";
    private static final Duration LOG_EVERY = Duration.ofMinutes(1);
    private static final Pattern BEARER = Pattern.compile("(?i)bearer +(\\S{1,200})");
    private static final Set<HandlerType> READING = Set.of(HandlerType.GET, HandlerType.HEAD, HandlerType.OPTIONS);
    private static final List<String> OF_PROXIES = List.of(
            "Forwarded",
            "X-Forwarded-For",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
            "X-Forwarded-Server",
            "X-Real-IP",
            "Via");

    private final WebSettings settings;
    private final Session session;
    private final Access access;
    private final Brake signIns = new Brake(Clock.systemUTC());
    private final Brake bearers = new Brake(Clock.systemUTC());
    private final AtomicLong forgedAt = new AtomicLong(System.nanoTime() - LOG_EVERY.toNanos());
    private final String sessionCookie;
    private final String formCookie;

    Gate(WebSettings settings, Session session, Access access) {
        this.settings = settings;
        this.session = session;
        this.access = access;
        // Cookies know no ports: two consoles of one machine must not take each other's.
        String prefix = !settings.https() ? "" : settings.basePath().isEmpty() ? "__Host-" : "__Secure-";
        this.sessionCookie = prefix + "postroom_session_" + settings.port();
        this.formCookie = prefix + "postroom_form_" + settings.port();
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
        if (isForeign(context) && !isVisit(context, isCall)) {
            throw foreign();
        }
        boolean isSignIn = isAt(context, "/sign-in");
        Session.Ticket signedIn = ticket(context, sessionCookie);
        User proxied = proxied(context);
        User user = proxied != null ? proxied : isCall ? bearer(context).orElse(null) : null;
        if (user == null) {
            user = user(signedIn);
            context.attribute(BY_SESSION, true);
        }
        if (user == null && !isSignIn) {
            throw new Refusal(401, "request.unauthorized", "sign in first, or send a token as Authorization: Bearer …");
        }
        // Whom a proxy names has no session here, and none that could be taken for that of a user of the same name.
        boolean isNameless = isSignIn || proxied != null;
        Session.Ticket ticket = isNameless ? ticket(context, formCookie) : signedIn;
        boolean isReading = READING.contains(context.method());
        if (!isReading) {
            requireOurs(context, isCall, ticket);
        }
        if (ticket == null && isNameless && !isCall) {
            String issued = session.issue("");
            send(context, formCookie, issued);
            ticket = session.read(issued).orElseThrow();
        }
        if (ticket != null) {
            context.attribute(FORM_TOKEN, session.formToken(ticket));
        }
        if (user != null) {
            context.attribute(USER, user);
        }
        if (!isReading && user != null && !user.mayAct() && !isSignIn && !isAt(context, "/sign-out")) {
            throw new Refusal(
                    403,
                    "request.forbidden",
                    settings.readOnly()
                            ? "nothing can be changed here: console.read-only is true"
                            : "user " + user.name() + " is " + user.role().word() + ", which may change nothing");
        }
    }

    /**
     * Lets in who asks for metrics: with users, one of them; without, whoever is on this machine, since a scraper cannot know the token
     * of a process. There is nothing among them that was published.
     */
    void admitScrape(Context context) {
        if (settings.hasUsers()) {
            admit(context, true);
            return;
        }
        requireKnownHost(context);
        if (isForeign(context)) {
            throw foreign();
        }
    }

    private static boolean isAt(Context context, String path) {
        return context.path().equals(context.contextPath() + path);
    }

    /** Whether a page of another site asks. */
    static boolean isForeign(Context context) {
        String site = context.header("Sec-Fetch-Site");
        return site != null && !site.equals("same-origin") && !site.equals("none");
    }

    private static boolean isVisit(Context context, boolean isCall) {
        return !isCall && context.method() == HandlerType.GET && "navigate".equals(context.header("Sec-Fetch-Mode"));
    }

    private static Refusal foreign() {
        return new Refusal(403, "request.foreign", "the request comes from a page of another site; nothing was done");
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
        Optional<User> user = known(context, signIns, token);
        user.ifPresent(found -> {
            send(context, sessionCookie, session.issue(found.name()));
            LOG.info("{} signed in from {}", found.name(), context.ip());
        });
        return user.isPresent();
    }

    private Optional<User> known(Context context, Brake brake, String token) {
        // A right one always passes: behind a proxy all have one address, and whoever guesses there must not shut out
        // the others.
        Optional<User> user = access.ofToken(token);
        if (user.isPresent()) {
            return user;
        }
        Duration wait = brake.wait(context.ip());
        if (!wait.isZero()) {
            context.header("Retry-After", Long.toString(wait.toSeconds() + 1));
            throw new Refusal(
                    429,
                    "request.too-many-tokens",
                    "too many wrong tokens came from this address; try again in " + (wait.toSeconds() + 1) + " s");
        }
        brake.wrong(context.ip());
        return user;
    }

    /** Whom a proxy of ours names; null if it names nobody. What others write into its headers is worth nothing. */
    private @Nullable User proxied(Context context) {
        Proxy proxy = settings.proxy();
        if (proxy == null) {
            return null;
        }
        List<String> names = Collections.list(context.req().getHeaders(proxy.userHeader()));
        if (names.isEmpty() || names.get(0).isBlank()) {
            return null;
        }
        if (!proxy.isAt(context.ip())) {
            long now = System.nanoTime();
            long last = forgedAt.get();
            if (now - last >= LOG_EVERY.toNanos() && forgedAt.compareAndSet(last, now)) {
                LOG.warn(
                        "ignored {} from {}, which is not in console.proxy.from; nobody is who such a header says",
                        proxy.userHeader(),
                        context.ip());
            }
            return null;
        }
        List<String> groups = Collections.list(context.req().getHeaders(proxy.groupsHeader()));
        if (names.size() > 1 || groups.size() > 1) {
            throw Refusal.invalid((names.size() > 1 ? proxy.userHeader() : proxy.groupsHeader())
                    + " is there twice; the proxy must take away what browsers send under its name");
        }
        User user = access.able(proxy.user(names.get(0).strip(), groups.isEmpty() ? null : groups.get(0)));
        context.attribute(PROXIED, true);
        return user;
    }

    /** Whether a proxy said who asks. */
    static boolean isProxied(Context context) {
        return context.attribute(PROXIED) != null;
    }

    /** Whether who was let in would be so now: a session may have ended since. */
    boolean isStillIn(Context context) {
        return context.attribute(BY_SESSION) == null || user(ticket(context, sessionCookie)) != null;
    }

    /** Whether tokens may come in addresses: only that of this process, which its terminal shows. */
    boolean isLocal() {
        return access.token() != null;
    }

    void signOut(Context context) {
        Session.Ticket ticket = ticket(context, sessionCookie);
        if (ticket != null) {
            session.end(ticket);
        }
        send(context, sessionCookie, session.issue(""));
    }

    private void send(Context context, String name, String value) {
        String path = context.contextPath().isEmpty() ? "/" : context.contextPath();
        int age = (int) Session.LIFETIME.toSeconds();
        context.cookie(new Cookie(name, value, path, age, settings.https(), true, null, SameSite.STRICT));
    }

    private void requireKnownHost(Context context) {
        if (settings.hasUsers()) {
            return;
        }
        String host = context.header("Host");
        String name =
                host == null ? "localhost" : host.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
        if (!WebSettings.LOOPBACK.contains(name)) {
            throw new Refusal(
                    421,
                    "request.host-unknown",
                    "this server is for its own machine; ask for http://localhost instead");
        }
        for (String header : OF_PROXIES) {
            if (context.header(header) != null) {
                throw new Refusal(
                        421,
                        "request.proxied",
                        "the request comes through a proxy (it has " + header
                                + "), and this server is for its own machine; add console.users first");
            }
        }
    }

    private Session.@Nullable Ticket ticket(Context context, String name) {
        String cookie = context.cookie(name);
        return cookie == null ? null : session.read(cookie).orElse(null);
    }

    private @Nullable User user(Session.@Nullable Ticket ticket) {
        return ticket == null ? null : access.named(ticket.name()).orElse(null);
    }

    private Optional<User> bearer(Context context) {
        String header = context.header("Authorization");
        Matcher matcher = BEARER.matcher(header == null ? "" : header.strip());
        return matcher.matches() ? known(context, bearers, matcher.group(1)) : Optional.empty();
    }

    private void requireOurs(Context context, boolean isCall, Session.@Nullable Ticket ticket) {
        if (!isOurOrigin(context.header("Origin"), context.header("Host"))) {
            throw foreign();
        }
        String type = String.valueOf(context.contentType()).toLowerCase(Locale.ROOT);
        if (isCall) {
            if (!type.startsWith("application/json")) {
                throw new Refusal(415, "request.not-json", "send the body as application/json");
            }
            return;
        }
        // Before anything of the body is read: parts of a multipart form would go to the disk, as large as they come.
        if (!type.startsWith("application/x-www-form-urlencoded")) {
            throw new Refusal(415, "request.not-form", "send the form as application/x-www-form-urlencoded");
        }
        // Who has no ticket has no form of ours: nothing of what they sent is looked at.
        String token = ticket == null ? null : context.formParam("formToken");
        if (ticket == null || token == null || !session.isFormToken(ticket, token)) {
            throw new Refusal(
                    403,
                    "request.form-token",
                    "this form is too old, or not ours; nothing was done: reload the page and try again");
        }
    }

    private boolean isOurOrigin(@Nullable String origin, @Nullable String host) {
        if (origin == null) {
            return true;
        }
        if (!settings.origin().isEmpty()) {
            return settings.origin().equalsIgnoreCase(origin);
        }
        try {
            return host != null && host.equalsIgnoreCase(URI.create(origin).getAuthority());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    static String hash(String token) {
        return HexFormat.of().formatHex(digest(token));
    }

    static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
