/**
 * Sends messages to HTTP endpoints as Standard Webhooks.
 *
 * <p>One attempt: a worker thread takes an idle connection or dials a new one, signs the body with the time of the attempt,
 * posts it, reads the status and answers. {@link io.postroom.sink.webhook.WebhookSink} keeps nothing on disk: a process that
 * dies between the endpoint's 2xx and the relay's settling sends the message again with the same {@code webhook-id}.
 *
 * <p>Why an HTTP client of our own: an endpoint's address is checked before a connection is made, and the connection must go
 * to the very address that was checked, or a second DNS answer could lead it into the local network. The JDK's client
 * resolves names itself and cannot be told where to connect without giving up host name verification. So {@code Dialer} is
 * the one place that opens sockets: it resolves, checks every address, connects to a checked one, and does TLS with the
 * endpoint's name. No proxy is ever used and no redirect is followed.
 */
@NullMarked
package io.postroom.sink.webhook;

import org.jspecify.annotations.NullMarked;
