package io.postroom.sink.webhook;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Carries one parcel to the endpoint, once, and reports. Decides nothing about the next time. Safe for use by many threads. */
final class Courier {
    private final Endpoint endpoint;
    private final Body body;
    private final Map<String, String> headers;
    private final SigningKeys keys;
    private final ConnectionPool connections;
    private final Clock clock;
    private final Duration attemptTimeout;
    private final Duration retryAfterMax;
    private final boolean showResponses;

    Courier(WebhookSink.Builder settings, Endpoint endpoint, SigningKeys keys, ConnectionPool connections) {
        this.endpoint = endpoint;
        this.keys = keys;
        this.connections = connections;
        body = settings.body;
        headers = Map.copyOf(settings.headers);
        clock = settings.clock;
        attemptTimeout = settings.attemptTimeout;
        retryAfterMax = settings.retryAfterMax;
        showResponses = settings.showResponses;
    }

    Report carry(Parcel parcel) {
        try {
            byte[] content = parcel.bytes(body);
            HttpAnswer answer = connections.post(head(parcel, content), content, Deadline.in(attemptTimeout));
            return report(parcel, answer);
        } catch (UnreachableException e) {
            return report(parcel, Verdict.UNAVAILABLE, e.errorClass(), String.valueOf(e.getMessage()), null);
        } catch (NoAnswerException e) {
            return report(
                    parcel,
                    Verdict.RETRY,
                    e.errorClass(),
                    e.getMessage() + ", and the endpoint may have taken it",
                    null);
        } catch (IOException e) {
            return report(
                    parcel,
                    Verdict.RETRY,
                    ErrorClass.CONNECTION_LOST,
                    "the connection failed (" + e.getClass().getSimpleName() + ")",
                    null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return report(parcel, Verdict.UNAVAILABLE, ErrorClass.CLOSED, "the sink was closed", null);
        } catch (RejectedExecutionException e) {
            return report(parcel, Verdict.UNAVAILABLE, ErrorClass.CLOSED, "the sink was closed", null);
        } catch (RuntimeException e) {
            // By type alone: the message may quote the payload.
            return report(
                    parcel,
                    Verdict.RETRY,
                    ErrorClass.SINK_FAILED,
                    "the sink failed (" + e.getClass().getName() + ")",
                    null);
        }
    }

    private byte[] head(Parcel parcel, byte[] content) {
        Instant now = clock.instant();
        StringBuilder head = new StringBuilder("POST " + endpoint.target() + " HTTP/1.1\r\n");
        append(head, "host", endpoint.authority());
        append(head, "user-agent", "Postroom");
        append(head, "accept", "*/*");
        append(head, "content-length", Integer.toString(content.length));
        append(head, "webhook-id", parcel.id());
        append(head, "webhook-timestamp", Long.toString(now.getEpochSecond()));
        append(head, "webhook-signature", keys.sign(parcel.id(), now.getEpochSecond(), content, now));
        parcel.headers(body).forEach((name, value) -> append(head, name, value));
        headers.forEach((name, value) -> append(head, name, value));
        return head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void append(StringBuilder head, String name, String value) {
        head.append(name).append(": ").append(value).append("\r\n");
    }

    private Report report(Parcel parcel, HttpAnswer answer) {
        Verdict verdict = Verdict.of(answer.status());
        StringBuilder fact = new StringBuilder("the endpoint answered " + answer.status());
        if (answer.status() < 400) {
            fact.append(", and redirects are not followed");
        }
        Duration after = RetryAfter.parse(answer.retryAfter(), clock.instant(), retryAfterMax);
        if (after != null) {
            fact.append(" and asked to wait ").append(after.toSeconds()).append(" s");
        }
        if (showResponses && !answer.excerpt().isBlank()) {
            fact.append(" with \"").append(Excerpt.of(answer.excerpt())).append('"');
        }
        return report(parcel, verdict, ErrorClass.ofStatus(answer.status()), fact.toString(), after);
    }

    Report report(Parcel parcel, Verdict verdict, String errorClass, String fact, @Nullable Duration after) {
        String reason = "could not send " + parcel.subject() + " to " + endpoint.origin() + ": " + fact + "; "
                + parcel.consequence(verdict);
        return new Report(verdict, errorClass, reason, after);
    }
}
