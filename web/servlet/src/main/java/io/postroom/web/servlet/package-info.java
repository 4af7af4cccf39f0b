/**
 * Idempotency keys for Jakarta Servlet: a filter before the servlets whose requests are answered once.
 *
 * <p>The filter reads the request's body, lets the servlet write its answer into memory, commits effect and answer in one transaction,
 * and sends. A crash or a broken connection before the commit leaves nothing; after it, the same answer for whoever asks again.
 */
@NullMarked
package io.postroom.web.servlet;

import org.jspecify.annotations.NullMarked;
