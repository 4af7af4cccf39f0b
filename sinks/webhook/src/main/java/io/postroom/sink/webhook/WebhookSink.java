package io.postroom.sink.webhook;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import java.net.InetAddress;
import java.security.KeyStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends messages to one HTTP endpoint as signed Standard Webhooks.
 *
 * <p>A message is accepted when the endpoint has answered 2xx, and not before. If the process dies after that answer and
 * before the relay settles, the endpoint gets the message again with the same {@code webhook-id}. The sink connects only to
 * public addresses and to those that were allowed, whatever a name server says, and follows no redirect. When the endpoint answers 410
 * Gone, the relay pauses the subscription.
 *
 * <p>Safe for use by many threads. {@link #send} never blocks: workers of the sink's own wait for the endpoint, so that a slow
 * one holds up nobody else.
 */
public final class WebhookSink implements Sink {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookSink.class);
    private static final Duration THREAD_IDLE_MAX = Duration.ofSeconds(10);
    private static final int LOOKUPS_MAX = 2;

    private final Endpoint endpoint;
    private final SigningKeys keys;
    private final Courier courier;
    private final ConnectionPool connections;
    private final Watchdog watchdog;
    private final ThreadPoolExecutor workers;
    private final ExecutorService lookups;
    private final Set<Waiting> unfinished = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Clock clock;
    private final Duration attemptTimeout;
    private final Duration closeTimeout;
    private final Duration rotationWindow;

    private WebhookSink(Builder settings, WebhookSettings checked) {
        endpoint = checked.endpoint();
        keys = new SigningKeys(checked.keys());
        clock = settings.clock;
        attemptTimeout = settings.attemptTimeout;
        closeTimeout = settings.closeTimeout;
        rotationWindow = settings.rotationWindow;
        watchdog = new Watchdog(new WebhookThreads("deadline", endpoint));
        workers = threads("worker", settings.concurrency, settings.waitingMax);
        lookups = threads("lookup", LOOKUPS_MAX, settings.concurrency);
        Dialer dialer = new Dialer(
                endpoint,
                checked.guard(),
                settings.resolver,
                lookups,
                checked.tls(),
                settings.connectTimeout,
                watchdog);
        connections = new ConnectionPool(dialer, watchdog);
        courier = new Courier(settings, endpoint, keys, connections);
    }

    private ThreadPoolExecutor threads(String role, int count, int waitingMax) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                count,
                count,
                THREAD_IDLE_MAX.toMillis(),
                TimeUnit.MILLISECONDS,
                new ArrayBlockingQueue<>(waitingMax),
                new WebhookThreads(role, endpoint));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** Starts a sink for the endpoint with this URL. */
    public static Builder to(String url) {
        return new Builder(url);
    }

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        return send(new Parcel.OfMessage(envelope));
    }

    /** Sends what is no message, once, in the same way; never blocks. */
    public CompletionStage<Outcome> send(Webhook webhook) {
        return send(new Parcel.OfWebhook(webhook));
    }

    private CompletionStage<Outcome> send(Parcel parcel) {
        Waiting waiting = new Waiting(parcel, Deadline.in(attemptTimeout));
        unfinished.add(waiting);
        try {
            workers.execute(waiting);
        } catch (RejectedExecutionException e) {
            if (closed.get()) {
                waiting.refuse(ErrorClass.CLOSED, "the sink is closed");
            } else {
                waiting.refuse(ErrorClass.BUSY, workers.getQueue().size() + " messages wait for a worker already");
            }
        }
        return waiting.answer;
    }

    /**
     * Signs with a new secret from now on; the secrets before it go on signing for the rotation window. Give the receiver the
     * new secret at any time within the window: it verifies every webhook throughout. The rotation is not remembered over a
     * restart: build the sink with both secrets until the window has passed.
     */
    public void rotate(String secret) {
        Instant now = clock.instant();
        keys.rotate(SigningKey.parse(secret), now, now.plus(rotationWindow));
        LOG.info("Webhook secret of {} rotated; {} secrets sign now.", endpoint, keys.active(now));
    }

    /** How many secrets sign at the moment. */
    public int activeSecrets() {
        return keys.active(clock.instant());
    }

    /** Waits for attempts under way, for the close timeout at most. Messages that wait for a worker are given back unsent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        workers.shutdown();
        try {
            workers.awaitTermination(closeTimeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        unfinished.forEach(
                waiting -> waiting.refuse(ErrorClass.CLOSED, "the sink was closed before the endpoint answered"));
        connections.close();
        lookups.shutdownNow();
        watchdog.shutdown();
    }

    @Override
    public String toString() {
        return "webhook sink " + endpoint.origin();
    }

    /** A parcel that was handed over and has no answer yet. */
    private final class Waiting implements Runnable {
        private final Parcel parcel;
        private final Deadline start;
        private final CompletableFuture<Outcome> answer = new CompletableFuture<>();

        /** Waits for a worker until the deadline at most, so that every message is answered in twice the attempt's time. */
        private Waiting(Parcel parcel, Deadline start) {
            this.parcel = parcel;
            this.start = start;
        }

        @Override
        public void run() {
            try {
                attempt();
            } finally {
                // Only an Error gets past the courier; even then the lane must not wait for ever.
                if (!answer.isDone()) {
                    refuse(ErrorClass.SINK_FAILED, "the sink failed");
                }
            }
        }

        private void attempt() {
            if (closed.get()) {
                refuse(ErrorClass.CLOSED, "the sink was closed");
            } else if (start.passed()) {
                refuse(ErrorClass.BUSY, "no worker was free within " + attemptTimeout.toMillis() + " ms");
            } else {
                finish(courier.carry(parcel));
            }
        }

        private void refuse(String errorClass, String fact) {
            finish(courier.report(parcel, Verdict.UNAVAILABLE, errorClass, fact, null));
        }

        private void finish(Report report) {
            unfinished.remove(this);
            answer.complete(report.outcome());
        }
    }

    /** Collects the settings of a sink. A URL and a secret are enough. */
    public static final class Builder {
        final String url;
        final List<String> secrets = new ArrayList<>();
        final Map<String, String> headers = new LinkedHashMap<>();
        final List<String> allowedRanges = new ArrayList<>();
        boolean allowHttp;
        boolean showResponses;
        Body body = new Body.Standard();

        @Nullable
        KeyStore trustStore;

        Duration connectTimeout = Duration.ofSeconds(5);
        Duration attemptTimeout = Duration.ofSeconds(15);
        Duration closeTimeout = Duration.ofSeconds(15);
        Duration retryAfterMax = Duration.ofHours(1);
        Duration rotationWindow = Duration.ofHours(24);
        int concurrency = 8;
        int waitingMax = 1_000;
        Resolver resolver = InetAddress::getAllByName;
        Clock clock = Clock.systemUTC();

        private Builder(String url) {
            this.url = url;
        }

        /** Signs with this secret, {@code whsec_…} or {@code whsk_…}. Give several and each of them signs. */
        public Builder secret(String secret) {
            secrets.add(secret);
            return this;
        }

        /** Sends CloudEvents in binary mode instead of the Standard Webhooks body; the source is a URI or a path. */
        public Builder cloudEvents(String source) {
            body = new Body.CloudEvent(source);
            return this;
        }

        /** Sends this header with every webhook. Its value is kept out of logs and reasons, like a secret. */
        public Builder header(String name, String value) {
            headers.put(name.toLowerCase(Locale.ROOT), value);
            return this;
        }

        /** Allows these addresses although they are not public, as in {@code 10.1.0.0/16}; for endpoints of one's own. */
        public Builder allowPrivate(String... ranges) {
            allowedRanges.addAll(List.of(ranges));
            return this;
        }

        /** Allows {@code http://}, to addresses that {@link #allowPrivate} names and to no others. */
        public Builder allowHttp() {
            allowHttp = true;
            return this;
        }

        /** Trusts the authorities in this store instead of the JDK's. Host names are verified all the same. */
        public Builder trustStore(KeyStore trustStore) {
            this.trustStore = trustStore;
            return this;
        }

        /** How long to wait for a name server and for a connection, each; 5 s unless given. */
        public Builder connectTimeout(Duration connectTimeout) {
            this.connectTimeout = connectTimeout;
            return this;
        }

        /** How long one attempt may take in all, from lookup to answer; 15 s unless given. */
        public Builder attemptTimeout(Duration attemptTimeout) {
            this.attemptTimeout = attemptTimeout;
            return this;
        }

        /** How long {@link WebhookSink#close} waits for attempts under way; 15 s unless given. */
        public Builder closeTimeout(Duration closeTimeout) {
            this.closeTimeout = closeTimeout;
            return this;
        }

        /** The longest wait that an endpoint may ask for with Retry-After; an hour unless given. */
        public Builder retryAfterMax(Duration retryAfterMax) {
            this.retryAfterMax = retryAfterMax;
            return this;
        }

        /** How long old secrets go on signing after {@link WebhookSink#rotate}; a day unless given. */
        public Builder rotationWindow(Duration rotationWindow) {
            this.rotationWindow = rotationWindow;
            return this;
        }

        /** How many webhooks are under way to this endpoint at once, at most; 8 unless given. */
        public Builder concurrency(int concurrency) {
            this.concurrency = concurrency;
            return this;
        }

        /** How many messages may wait for a worker in memory; more are refused as unavailable. 1000 unless given. */
        public Builder waitingMax(int waitingMax) {
            this.waitingMax = waitingMax;
            return this;
        }

        /**
         * Adds the beginning of the endpoint's answer to the reason of a failure, redacted. Off unless asked for: an endpoint
         * may repeat the payload in its answer, and no redaction knows every secret.
         */
        public Builder showResponses() {
            showResponses = true;
            return this;
        }

        /** Answers for the name server, in tests. */
        Builder resolver(Resolver resolver) {
            this.resolver = resolver;
            return this;
        }

        /** Tells the time of attempts, in tests. */
        Builder clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        /** Builds the sink without connecting, or throws an {@link InvalidWebhookException} that names every problem. */
        public WebhookSink build() {
            return new WebhookSink(this, WebhookSettings.check(this));
        }
    }
}
