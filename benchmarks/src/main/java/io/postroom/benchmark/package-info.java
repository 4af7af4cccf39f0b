/**
 * Rates of Postroom beside the limits of the same database and the patterns it replaces, in one run.
 *
 * <p>Every figure that is judged is a ratio of two measurements on the same server, minutes apart at most. Run it with
 * {@code bin/bench}.
 */
@NullMarked
package io.postroom.benchmark;

import org.jspecify.annotations.NullMarked;
