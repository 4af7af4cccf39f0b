/**
 * {@code postroom deadletter}: looks at what was given up on, puts it back on its way or ends it.
 *
 * <p>Payloads are printed by {@code show} and {@code export} and by the preview of a patch, and by nothing else.
 */
@NullMarked
package io.postroom.server.deadletter;

import org.jspecify.annotations.NullMarked;
