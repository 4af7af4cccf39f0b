package io.postroom.sink.webhook;

import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is sent as a webhook and is no message: a job, for example. It is signed, guarded and judged like one, once for each call of
 * {@link WebhookSink#send(Webhook)}; who calls it decides about the next time.
 *
 * @param id by which the receiver knows a repetition: 1 to {@value #ID_LENGTH_MAX} letters, digits, _ and -
 * @param subject what operators call it, such as {@code job 42}
 * @param type what it is about
 * @param data JSON, which is sent byte for byte
 */
public record Webhook(
        String id, String subject, String type, @Nullable String tenantId, String data) {
    public static final int ID_LENGTH_MAX = 200;

    /** No dot: the signature is over id, time and body with dots between. */
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1," + ID_LENGTH_MAX + "}");

    public Webhook {
        Objects.requireNonNull(subject, "subject");
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(data, "data");
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException("could not make webhook of " + subject + ": its id has " + id.length()
                    + " characters, it must be 1 to " + ID_LENGTH_MAX + " letters, digits, _ or -");
        }
    }

    @Override
    public String toString() {
        return "webhook " + id;
    }
}
