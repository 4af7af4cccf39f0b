package io.postroom.web.javalin;

import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.http.HttpResponseException;
import io.javalin.http.HttpStatus;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.Steps;
import io.postroom.idempotency.http.KeyHeader;
import io.postroom.idempotency.http.KeyedRequest;
import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.idempotency.http.Reply;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes handlers that answer each request once, by its {@code Idempotency-Key}.
 *
 * <p>Nothing is sent before it is committed. A process that dies before leaves nothing; a client that lost its answer asks again and
 * gets the same one. A handler reads its body through its context, with {@code body}, {@code bodyAsBytes}, {@code bodyAsClass} or
 * {@code formParam}, not as a stream and not as uploaded files. It answers through its context, with {@code result}, {@code json} or
 * {@code html}, not through its output stream, and not later: both are refused. What it throws is rolled back and goes to Javalin's exception mappers;
 * that is not stored.
 */
public final class Idempotent {
    private final KeyedRoute route;
    private final Function<Context, String> tenant;
    private final Function<Context, String> principal;

    private Idempotent(KeyedRoute route, Function<Context, String> tenant, Function<Context, String> principal) {
        this.route = Objects.requireNonNull(route, "route");
        this.tenant = Objects.requireNonNull(tenant, "tenant");
        this.principal = Objects.requireNonNull(principal, "principal");
    }

    /** A handler that only changes the database: everything in the transaction that is committed with its answer. */
    @FunctionalInterface
    public interface OnceHandler {
        void handle(Context context, Connection tx) throws Exception;
    }

    /** A handler that calls others as well, in steps. */
    @FunctionalInterface
    public interface StepsHandler {
        void handle(Context context, Steps steps) throws Exception;
    }

    /**
     * A handler whose effect and answer are one transaction.
     *
     * @param tenant whom the client was authenticated as; never what it says in its body. Empty where there are no tenants
     */
    public static Handler once(KeyedRoute route, Function<Context, String> tenant, OnceHandler handler) {
        return once(route, tenant, any -> "", handler);
    }

    /**
     * The same for tenants with members who must not get each other's answers: the same key of another one is refused.
     *
     * @param principal who of the tenant asks, as authenticated
     */
    public static Handler once(
            KeyedRoute route,
            Function<Context, String> tenant,
            Function<Context, String> principal,
            OnceHandler handler) {
        Idempotent idempotent = new Idempotent(route, tenant, principal);
        return context -> idempotent.answer(
                context,
                (request, sending) -> route.once(request, tx -> sending.made(held -> handler.handle(held, tx))));
    }

    /** A handler that is done in steps. */
    public static Handler steps(KeyedRoute route, Function<Context, String> tenant, StepsHandler handler) {
        return steps(route, tenant, any -> "", handler);
    }

    /** The same for tenants with members who must not get each other's answers. */
    public static Handler steps(
            KeyedRoute route,
            Function<Context, String> tenant,
            Function<Context, String> principal,
            StepsHandler handler) {
        Idempotent idempotent = new Idempotent(route, tenant, principal);
        return context -> idempotent.answer(
                context,
                (request, sending) -> route.steps(request, steps -> sending.made(held -> handler.handle(held, steps))));
    }

    @FunctionalInterface
    private interface Doing {
        Reply reply(KeyedRequest request, Sending sending) throws Exception;
    }

    @FunctionalInterface
    private interface Making {
        void run(Context held) throws Exception;
    }

    private void answer(Context context, Doing doing) throws Exception {
        String method = context.req().getMethod();
        if (!route.isKeyed(method)) {
            throw new IllegalStateException("could not answer " + method + " once: it is not a method of route "
                    + route.scope() + "; give this handler to post, put, patch or delete");
        }
        Sending sending = new Sending(context, route);
        byte[] read;
        try {
            read = context.bodyAsBytes();
        } catch (HttpResponseException e) {
            if (e.getStatus() != HttpStatus.CONTENT_TOO_LARGE.getCode()) {
                throw e;
            }
            // Javalin keeps what it has read, for the handler; so it must read it, and has a limit of its own.
            refuse(context, sending, route.tooLargeForTheServer());
            return;
        }
        Optional<byte[]> body = route.read(new ByteArrayInputStream(read));
        if (body.isEmpty()) {
            refuse(context, sending, route.tooLarge());
            return;
        }
        String query = context.queryString();
        KeyedRequest request = new KeyedRequest(
                method,
                context.req().getRequestURI() + (query == null ? "" : "?" + query),
                context.contentType(),
                Collections.list(context.req().getHeaders(KeyHeader.NAME)),
                Objects.requireNonNull(tenant.apply(context), "the tenant of a request is null; empty means none"),
                body.get(),
                Objects.requireNonNull(
                        principal.apply(context), "the principal of a request is null; empty means none"));
        sending.send(doing.reply(request, sending));
    }

    private static void refuse(Context context, Sending sending, Reply reply) {
        context.header("Connection", "close");
        sending.send(reply);
    }

    /** One response: as the handler has made it, or as it was made before. For one thread. */
    private static final class Sending {
        private final Context context;
        private final KeyedRoute route;
        private @Nullable Map<String, List<String>> headersBefore;
        private @Nullable Answer made;

        private Sending(Context context, KeyedRoute route) {
            this.context = context;
            this.route = route;
        }

        private Answer made(Making making) throws Exception {
            Map<String, List<String>> before = headersBefore;
            if (before == null) {
                before = new LinkedHashMap<>();
                for (String name : context.res().getHeaderNames()) {
                    before.put(name, new ArrayList<>(context.res().getHeaders(name)));
                }
                headersBefore = before;
            } else {
                // The handler runs once more, because what it did before was rolled back.
                reset(before);
                context.result(new byte[0]);
            }
            making.run(HeldContext.of(context));
            if (context.res().isCommitted()) {
                throw HeldContext.refused("its response");
            }
            Map<String, String> headers = new LinkedHashMap<>();
            for (String name : route.storedHeaders()) {
                String value = String.join(", ", context.res().getHeaders(name));
                if (!value.isEmpty()) {
                    headers.put(name, value);
                }
            }
            Answer answer = route.answer(context.statusCode(), headers, result());
            made = answer;
            return answer;
        }

        private void reset(Map<String, List<String>> before) {
            context.res().reset();
            before.forEach(
                    (name, values) -> values.forEach(value -> context.res().addHeader(name, value)));
        }

        /** In steps the last one may have stored another answer than the handler has made; a replay gives that one. */
        private boolean isAsMade(Reply reply) {
            return reply.executed()
                    && made != null
                    && made.equals(new Answer(reply.status(), reply.headers(), reply.body()));
        }

        private byte[] result() throws IOException {
            try (InputStream result = context.resultInputStream()) {
                return result == null ? new byte[0] : result.readNBytes(Answer.BODY_BYTES_MAX + 1);
            }
        }

        private void send(Reply reply) {
            if (!isAsMade(reply)) {
                if (headersBefore != null) {
                    reset(headersBefore);
                }
                context.status(reply.status());
                reply.headers().forEach(context::header);
            }
            context.result(reply.body());
        }
    }
}
