/**
 * What idempotency keys are over HTTP, whatever the server: the header, the dialects of refusals, and a route's rules.
 *
 * <p>An adapter reads the request's body whole, gives it with the header's fields to a {@link io.postroom.idempotency.http.KeyedRoute},
 * and sends the {@link io.postroom.idempotency.http.Reply} that it gets. Nothing is sent before it is committed: a client that got an
 * answer gets the same one again. A crash before the commit leaves nothing; after it, the answer for whoever asks again.
 */
@NullMarked
package io.postroom.idempotency.http;

import org.jspecify.annotations.NullMarked;
