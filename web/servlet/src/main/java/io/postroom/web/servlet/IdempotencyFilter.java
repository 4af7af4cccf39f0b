package io.postroom.web.servlet;

import io.postroom.idempotency.Answer;
import io.postroom.idempotency.http.KeyHeader;
import io.postroom.idempotency.http.KeyedRequest;
import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.idempotency.http.Reply;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers each request to the servlets behind it once, by its {@code Idempotency-Key}.
 *
 * <p>Nothing is sent before it is committed. A process that dies before leaves nothing; a client that lost its answer asks again and
 * gets the same one. It belongs behind authentication. Safe for use by many threads.
 */
public final class IdempotencyFilter implements Filter {
    private static final Logger LOG = LoggerFactory.getLogger(IdempotencyFilter.class);

    private final KeyedRoute route;
    private final Function<HttpServletRequest, String> tenant;
    private final Function<HttpServletRequest, String> principal;
    private final Mode mode;
    private final AtomicBoolean warned = new AtomicBoolean();

    private IdempotencyFilter(
            KeyedRoute route,
            Function<HttpServletRequest, String> tenant,
            Function<HttpServletRequest, String> principal,
            Mode mode) {
        this.route = Objects.requireNonNull(route, "route");
        this.tenant = Objects.requireNonNull(tenant, "tenant");
        this.principal = Objects.requireNonNull(principal, "principal");
        this.mode = mode;
    }

    /** How the servlet is run; what it gets is a transaction, or steps. */
    private interface Mode {
        Reply reply(KeyedRoute route, KeyedRequest request, Servlet servlet) throws Exception;
    }

    private interface Servlet {
        Answer run(Object resource) throws Exception;
    }

    /**
     * For servlets that only change the database: everything in one transaction, {@link IdempotentRequest#tx}.
     *
     * @param tenant whom the client was authenticated as; never what it says in its body. Empty where there are no tenants
     */
    public static IdempotencyFilter once(KeyedRoute route, Function<HttpServletRequest, String> tenant) {
        return new IdempotencyFilter(
                route, tenant, any -> "", (rules, request, servlet) -> rules.once(request, servlet::run));
    }

    /** For servlets that call others as well: {@link IdempotentRequest#steps}. */
    public static IdempotencyFilter steps(KeyedRoute route, Function<HttpServletRequest, String> tenant) {
        return new IdempotencyFilter(
                route, tenant, any -> "", (rules, request, servlet) -> rules.steps(request, servlet::run));
    }

    /**
     * The same for tenants with members who must not get each other's answers: the same key of another one is refused.
     *
     * @param member who of the tenant asks, as authenticated; such as {@code request -> request.getUserPrincipal().getName()}
     */
    public IdempotencyFilter principal(Function<HttpServletRequest, String> member) {
        return new IdempotencyFilter(route, tenant, member, mode);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse answer
                && http.getDispatcherType() == DispatcherType.REQUEST
                && route.isKeyed(http.getMethod())) {
            answerOnce(http, answer, chain);
        } else {
            chain.doFilter(request, response);
        }
    }

    private void answerOnce(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Optional<byte[]> body = route.read(request.getInputStream());
        if (body.isEmpty()) {
            // What is left of the body is not worth reading.
            response.setHeader("Connection", "close");
            new Sending(response).send(route.tooLarge());
            return;
        }
        if (!CachedRequest.hasKnownCharset(request)) {
            new Sending(response).send(route.charsetUnknown());
            return;
        }
        requireWhole(request, body.get());
        Sending sending = new Sending(response);
        try {
            sending.send(mode.reply(
                    route, read(request, body.get()), resource -> run(request, body.get(), sending, chain, resource)));
        } catch (IOException | ServletException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new ServletException(e);
        }
    }

    /** A body that another filter has read would be hashed as if it were empty, and be taken for the same as any other. */
    private void requireWhole(HttpServletRequest request, byte[] body) throws ServletException {
        long length = request.getContentLengthLong();
        boolean taken = body.length == 0
                && !request.getParameterMap()
                        .keySet()
                        .equals(new CachedRequest(request, body)
                                .getParameterMap()
                                .keySet());
        if (taken || length >= 0 && length != body.length) {
            throw new ServletException(
                    "could not read the request to " + route.scope() + ": its body is "
                            + (length < 0 ? "not empty" : length + " bytes") + ", " + body.length
                            + " are left; a filter before IdempotencyFilter has read it, perhaps with getParameter; put that filter behind it");
        }
    }

    private KeyedRequest read(HttpServletRequest request, byte[] body) {
        String query = request.getQueryString();
        return new KeyedRequest(
                request.getMethod(),
                request.getRequestURI() + (query == null ? "" : "?" + query),
                request.getContentType(),
                Collections.list(request.getHeaders(KeyHeader.NAME)),
                Objects.requireNonNull(tenant.apply(request), "the tenant of a request is null; empty means none"),
                body,
                Objects.requireNonNull(
                        principal.apply(request), "the principal of a request is null; empty means none"));
    }

    private Answer run(HttpServletRequest request, byte[] body, Sending sending, FilterChain chain, Object resource)
            throws IOException, ServletException {
        HeldResponse held = sending.hold();
        CachedRequest cached = new CachedRequest(request, body);
        IdempotentRequest.Offer offer = new IdempotentRequest.Offer(resource);
        offer.on(cached);
        try {
            chain.doFilter(cached, held);
        } finally {
            IdempotentRequest.Offer.withdraw(cached);
        }
        if (resource instanceof Connection && !offer.isTaken() && warned.compareAndSet(false, true)) {
            LOG.warn(
                    "a servlet of {} has answered without its transaction, IdempotentRequest.tx(request): what it changed elsewhere is"
                            + " not committed with its answer, and may be done twice",
                    route.scope());
        }
        return sending.made(route.answer(held.getStatus(), held.headers(route.storedHeaders()), held.body()));
    }

    /** One response: as the servlet has made it, or as it was made before. For one thread. */
    private static final class Sending {
        private final HttpServletResponse response;
        private final Map<String, List<String>> headersBefore = new LinkedHashMap<>();
        private @Nullable HeldResponse held;
        private @Nullable Answer made;

        private Sending(HttpServletResponse response) {
            this.response = response;
        }

        /** What filters before us have set stays, whatever becomes of what the servlet sets. */
        private HeldResponse hold() {
            if (held == null) {
                for (String name : response.getHeaderNames()) {
                    headersBefore.put(name, new ArrayList<>(response.getHeaders(name)));
                }
            } else {
                // The servlet runs once more, because what it did before was rolled back.
                reset();
            }
            HeldResponse next = new HeldResponse(response);
            held = next;
            return next;
        }

        private Answer made(Answer answer) {
            made = answer;
            return answer;
        }

        private void reset() {
            response.reset();
            headersBefore.forEach((name, values) -> values.forEach(value -> response.addHeader(name, value)));
        }

        /** In steps the last one may have stored another answer than the servlet has written; a replay gives that one. */
        private boolean isAsMade(Reply reply) {
            return reply.executed()
                    && made != null
                    && made.equals(new Answer(reply.status(), reply.headers(), reply.body()));
        }

        private void send(Reply reply) throws IOException {
            if (!isAsMade(reply)) {
                if (held != null) {
                    reset();
                }
                response.setStatus(reply.status());
                reply.headers().forEach(response::setHeader);
            }
            byte[] body = reply.body();
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
            response.flushBuffer();
        }
    }
}
