package io.postroom.sink.webhook;

import io.postroom.relay.Outcome;

/**
 * The words by which operators group what went wrong with webhooks, and by which a retry policy names it. They are kept in the
 * database and in files of settings, so they stay as they are.
 */
final class ErrorClass {
    /** The name does not resolve. */
    static final String DNS = "dns";

    /** One of the name's addresses is not allowed. */
    static final String ADDRESS_REFUSED = "address-refused";

    /** No connection: refused, no route, or not in time. */
    static final String CONNECT = "connect";

    /** There is a connection, but no TLS. */
    static final String TLS = "tls";

    /** The endpoint was asked and gave no answer in time. Whose fault that is, the lane finds out. */
    static final String TIMEOUT = Outcome.TIMEOUT;

    /** The connection ended before the answer did; the same holds. */
    static final String CONNECTION_LOST = Outcome.CONNECTION_LOST;

    /** An answer that is no HTTP. */
    static final String NOT_HTTP = "not-http";

    /** An answer that leads elsewhere, whichever of them. */
    static final String REDIRECT = "redirect";

    /** Not sent: too many others wait, or waited too long. */
    static final String BUSY = "busy";

    /** Not sent, because the sink ends. */
    static final String CLOSED = "closed";

    /** The sink itself failed. */
    static final String SINK_FAILED = "sink-failed";

    private ErrorClass() {}

    /** That of an answer which is not a success: {@code http.503}. */
    static String ofStatus(int status) {
        return status < 400 ? REDIRECT : "http." + status;
    }
}
