/** {@code postroom idempotency}: which requests are remembered, and keys that are stuck. Answers are never printed. */
@NullMarked
package io.postroom.server.idempotency;

import org.jspecify.annotations.NullMarked;
