package io.postroom.server.web;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.javalin.http.HttpResponseException;
import io.javalin.util.JavalinBindException;
import io.javalin.util.JavalinException;
import io.postroom.PostroomException;
import io.postroom.postgres.DatabaseException;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.handler.EagerContentHandler;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.server.handler.QoSHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** The one HTTP server of the process, for console, API and health. Close it to let what is being answered end, and stop. */
public final class WebServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WebServer.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int REQUEST_BYTES_MAX = 262_144;
    /** Longer than any page takes; an act that takes longer is cut off, and was done or was not, which its key tells. */
    private static final Duration STOP_WITHIN = Duration.ofSeconds(10);

    /** A database that is away is away for every page that refreshes. */
    private static final Duration LOG_EVERY = Duration.ofMinutes(1);

    private static final Duration WARM_UP_WITHIN = Duration.ofSeconds(5);

    /** Beyond so many, further ones wait to be accepted. There is room for all who wait, send and are answered. */
    private static final int CONNECTIONS_MAX = 2_000;

    private static final int WAITING_MAX = 400;
    private static final int BODIES_MAX = 200;

    /** So long a caller may take for the head of a request, and for its body; and so long nothing may come or go. */
    private static final Duration REQUEST_WITHIN = Duration.ofSeconds(20);

    private static final Duration SILENCE_MAX = Duration.ofSeconds(15);

    /** So many requests are answered at once, fewer than there are threads: there is always one to say that the process lives. */
    private static final int ANSWERING_MAX = 150;

    private static final Duration ANSWER_BEGINS_WITHIN = Duration.ofSeconds(5);

    private static final String CALLS = "/api/";
    private static final String METRICS = "/metrics";
    private static final String TIMEOUT = "57014";
    private static final String LOCKED = "55P03";
    /** Asked for with something else, or too late. */
    private static final Map<String, Integer> STATUSES = Map.of(
            "subscription.unknown", 404,
            "redrive.unknown", 404,
            "job.unknown", 404,
            "schedule.unknown", 404,
            "redrive.other", 422,
            "redrive.ended", 409);

    /** As the draft of the Idempotency-Key header has them. */
    private static final Map<String, String> TITLES = Map.of(
            "idempotency.key-missing",
            "Idempotency-Key is missing",
            Deeds.RUNNING,
            "A request is outstanding for this Idempotency-Key",
            "idempotency.mismatch",
            "Idempotency-Key is already used");

    private static final Set<HandlerType> METHODS =
            Set.of(HandlerType.GET, HandlerType.HEAD, HandlerType.OPTIONS, HandlerType.POST);

    private final Javalin server;
    private final WebSettings settings;
    private final @Nullable String token;
    private final EventStreams streams;
    private final List<String> reads;

    private WebServer(
            Javalin server, EventStreams streams, WebSettings settings, @Nullable String token, List<String> reads) {
        this.server = server;
        this.streams = streams;
        this.settings = settings;
        this.token = token;
        this.reads = List.copyOf(reads);
    }

    /** What a feature adds: its pages and its calls. */
    @FunctionalInterface
    public interface Feature {
        void add(Routes routes);
    }

    /** Starts to serve; throws if the address cannot be had. */
    public static WebServer start(WebSettings settings, Health health, Deeds deeds, List<Feature> features) {
        List<String> problems = settings.problems();
        if (!problems.isEmpty()) {
            throw new CommandException(ExitCode.USAGE, String.join("\n", problems));
        }
        Assets assets = new Assets();
        Access access = Access.of(settings);
        Gate gate = new Gate(settings, new Session(Clock.systemUTC()), access);
        EventStreams streams = new EventStreams(gate);
        Pages pages = new Pages(settings, assets, Clock.systemUTC());
        List<String> reads = new ArrayList<>();
        Callers callers = new Callers(WAITING_MAX, BODIES_MAX, REQUEST_WITHIN);
        Javalin server = Javalin.create(config -> {
            configure(config, settings, callers);
            health.add(config.routes);
            config.routes.get("/assets/{version}/{name}", assets::serve);
            config.routes.before(context -> admit(context, gate));
            new SignIn(gate, pages).add(config.routes);
            ApiDocument document = ApiDocument.read();
            byte[] description = document.json(settings.basePath());
            config.routes.get(
                    ApiDocument.ROOT + "/openapi.json",
                    context -> context.contentType("application/json").result(description));
            features.forEach(feature -> feature.add(new Routes(config.routes, pages, deeds, document, streams, reads)));
            errors(config, pages);
        });
        try {
            WebServer started = new WebServer(
                    server.start(settings.host(), settings.port()), streams, settings, access.token(), reads);
            for (Connector connector : server.jettyServer().server().getConnectors()) {
                connector.addEventListener(callers);
            }
            started.warmUp();
            return started;
        } catch (JavalinBindException e) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not listen on " + settings.host() + ":" + settings.port()
                            + ": another program does; end it, or choose another with console.address",
                    e);
        }
    }

    /**
     * Asks for a page once, aside: what it takes to write the first one is loaded before somebody waits for it. If it cannot be asked for,
     * nothing is lost.
     */
    private void warmUp() {
        Thread thread = new Thread(
                () -> {
                    try {
                        URLConnection page =
                                URI.create(url() + "sign-in").toURL().openConnection();
                        page.setConnectTimeout((int) WARM_UP_WITHIN.toMillis());
                        page.setReadTimeout((int) WARM_UP_WITHIN.toMillis());
                        // A connection that is kept is waited for when the server stops.
                        page.setRequestProperty("Connection", "close");
                        try (InputStream body = page.getInputStream()) {
                            body.readAllBytes();
                        }
                    } catch (IOException e) {
                        LOG.debug("could not ask for the first page", e);
                    }
                },
                "postroom-warm-up");
        thread.setDaemon(true);
        thread.start();
    }

    private static void configure(JavalinConfig config, WebSettings settings, Callers callers) {
        config.startup.showJavalinBanner = false;
        config.startup.showOldJavalinVersionWarning = false;
        config.router.contextPath = settings.basePath().isEmpty() ? "/" : settings.basePath();
        config.http.maxRequestSize = REQUEST_BYTES_MAX;
        config.http.prefer405over404 = true;
        config.jetty.modifyServer(server -> {
            // Bodies are read before a thread begins to answer: whoever sends slowly holds none.
            EagerContentHandler whole = new EagerContentHandler(
                    unhurried(settings.basePath()),
                    new EagerContentHandler.RetainedContentLoaderFactory(REQUEST_BYTES_MAX, 0, true));
            // Refused for its size, by us, before anything of it is read.
            whole.exclude(request -> request.getLength() > REQUEST_BYTES_MAX);
            callers.setHandler(whole);
            server.setHandler(new GracefulHandler(callers));
            server.addBean(new NetworkConnectionLimit(CONNECTIONS_MAX, server));
            server.setStopTimeout(STOP_WITHIN.toMillis());
        });
        config.jetty.modifyHttpConfiguration(http -> http.setIdleTimeout(SILENCE_MAX.toMillis()));
    }

    /** Lets the rest wait without a thread while many are answered; questions for health never wait. */
    private static QoSHandler unhurried(String basePath) {
        QoSHandler handler = new QoSHandler();
        handler.setMaxRequestCount(ANSWERING_MAX);
        handler.setMaxSuspendedRequestCount(WAITING_MAX);
        handler.setMaxSuspend(ANSWER_BEGINS_WITHIN);
        handler.exclude(request -> {
            String path = request.getHttpURI().getCanonicalPath();
            return path.startsWith(basePath) && isHealth(path.substring(basePath.length()));
        });
        return handler;
    }

    /** By a path below the base. */
    static boolean isHealth(String path) {
        return path.equals("/health") || path.startsWith("/health/");
    }

    private static void admit(Context context, Gate gate) {
        Gate.harden(context);
        if (!METHODS.contains(context.method())) {
            context.header("Allow", "GET, HEAD, POST");
            throw new Refusal(
                    405,
                    "request.method",
                    "nothing here is asked for with " + context.method() + "; GET reads, POST acts");
        }
        String path = context.path().substring(context.contextPath().length());
        if (path.equals(METRICS)) {
            gate.admitScrape(context);
        } else if (!isHealth(path) && !path.startsWith("/assets/")) {
            gate.admit(context, isCall(context));
        }
    }

    /** Whether a program asks, which wants no page. */
    private static boolean isCall(Context context) {
        return context.path().startsWith(context.contextPath() + CALLS)
                || context.path().equals(context.contextPath() + METRICS);
    }

    private static void errors(JavalinConfig config, Pages pages) {
        Consumer<Failure> answer = failure -> answer(failure, pages);
        AtomicLong loggedAt = new AtomicLong(System.nanoTime() - LOG_EVERY.toNanos());
        config.routes.exception(
                Refusal.class, (e, context) -> answer.accept(new Failure(context, e.status(), e.code(), e.sentence())));
        config.routes.exception(
                DatabaseException.class, (e, context) -> answer.accept(ofDatabase(e, context, loggedAt)));
        config.routes.exception(
                PostroomException.class,
                (e, context) -> answer.accept(new Failure(
                        context, STATUSES.getOrDefault(e.code(), 400), e.code(), String.valueOf(e.getMessage()))));
        config.routes.exception(
                HttpResponseException.class,
                (e, context) -> answer.accept(new Failure(
                        context,
                        e.getStatus(),
                        e.getStatus() == 404
                                ? "request.not-found"
                                : e.getStatus() == 405 ? "request.method" : "request.refused",
                        e.getStatus() == 413
                                ? "the request is larger than " + REQUEST_BYTES_MAX + " bytes"
                                : e.getStatus() == 404
                                        ? "there is nothing at this address"
                                        : "the request cannot be answered: status " + e.getStatus())));
        config.routes.exception(Exception.class, (e, context) -> {
            LOG.error("could not answer {} {}", context.method(), context.path(), e);
            answer.accept(new Failure(
                    context, 500, "server.broken", "something is broken here; the log of the process tells what"));
        });
    }

    private record Failure(Context context, int status, String code, String sentence) {}

    private static Failure ofDatabase(DatabaseException e, Context context, AtomicLong loggedAt) {
        if (e.sqlState().equals(TIMEOUT)) {
            return new Failure(
                    context,
                    503,
                    "database.slow",
                    "the database took longer than a page may wait; ask for less, or again when it has less to do");
        }
        if (e.sqlState().equals(LOCKED)) {
            return new Failure(
                    context,
                    503,
                    "database.busy",
                    "somebody else is changing the same; nothing was done: try again soon");
        }
        // What the server says may quote values: the state is for everybody, the sentence for who reads the log, once a
        // minute.
        long now = System.nanoTime();
        long last = loggedAt.get();
        if (now - last >= LOG_EVERY.toNanos() && loggedAt.compareAndSet(last, now)) {
            LOG.warn("could not ask the database: {}", e.getMessage());
        }
        return new Failure(
                context,
                503,
                "database.unavailable",
                "the database does not answer as expected (" + e.sqlState() + "); the log of the process tells more");
    }

    private static void answer(Failure failure, Pages pages) {
        Context context = failure.context();
        context.status(failure.status());
        Gate.harden(context);
        if (isCall(context)) {
            Map<String, Object> problem = new LinkedHashMap<>();
            // By its code, so that the title may say more than the status does.
            problem.put("type", "urn:postroom:problem:" + failure.code());
            problem.put("title", TITLES.getOrDefault(failure.code(), title(failure.status())));
            problem.put("status", failure.status());
            problem.put("detail", failure.sentence());
            problem.put("code", failure.code());
            if (failure.status() == 401) {
                context.header("WWW-Authenticate", "Bearer");
            } else if (failure.code().equals(Deeds.RUNNING)) {
                context.header("Retry-After", "1");
            }
            context.contentType("application/problem+json");
            context.result(JSON.writeValueAsBytes(problem));
        } else if (failure.status() == 401) {
            SignIn.lead(context, pages);
        } else {
            pages.show(
                    context,
                    "failure",
                    pages.page(context, title(failure.status()), ""),
                    "status",
                    failure.status(),
                    "sentence",
                    failure.sentence());
        }
    }

    private static String title(int status) {
        return switch (status) {
            case 400 -> "The request cannot be understood";
            case 401 -> "Sign in first";
            case 403 -> "Not allowed";
            case 404 -> "Not found";
            case 405 -> "Not asked for like this";
            case 409, 422 -> "Not possible now";
            case 413 -> "Too large";
            case 429 -> "Too many tries";
            case 415 -> "Not sent as it should be";
            case 503 -> "Not available now";
            default -> "Not answered";
        };
    }

    public int port() {
        return server.port();
    }

    /** Where a browser on this machine finds it. */
    public String url() {
        String host = settings.isLoopback() ? "localhost" : settings.host();
        return "http://" + host + ":" + port() + settings.basePath() + "/";
    }

    /** Where whoever started the process comes in: with its token, unless there are users. */
    public String entry() {
        return token == null ? url() : url() + "sign-in?token=" + token;
    }

    /** The paths of all pages, and of all calls that only read, as they were entered: {@code /messages/{id}}. */
    public List<String> reads() {
        return reads;
    }

    @Override
    public void close() {
        // Who watches would otherwise be waited for.
        streams.close();
        try {
            server.stop();
        } catch (JavalinException e) {
            if (!(e.getCause() instanceof TimeoutException)) {
                throw e;
            }
            LOG.warn(
                    "the web server has stopped, and cut off who was not answered within {} s; mostly the database was slow",
                    STOP_WITHIN.toSeconds());
        }
    }
}
