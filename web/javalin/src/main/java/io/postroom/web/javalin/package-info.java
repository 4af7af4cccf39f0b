/**
 * Idempotency keys for Javalin: a handler around the handlers whose requests are answered once.
 *
 * <p>Javalin holds what a handler answers in its context until the handler returns; it is committed with its effect in one transaction,
 * and then sent. A crash or a broken connection before the commit leaves nothing; after it, the same answer for whoever asks again.
 */
@NullMarked
package io.postroom.web.javalin;

import org.jspecify.annotations.NullMarked;
