/**
 * {@code postroom tail}: a durable subscription with one lane, printed as JSON lines.
 *
 * <p>A line counts as delivered once the operating system has taken it. What a kill leaves behind, step by step: before the
 * line is written, nothing is lost, it is printed by the next run; after it is written and before the lane is settled, it is
 * printed again by the next run; after that, never again. Lines are written whole, in pieces that a pipe takes at once, so a
 * line is cut only if it is longer than such a piece, and then it is printed again, whole.
 */
@NullMarked
package io.postroom.server.tail;

import org.jspecify.annotations.NullMarked;
