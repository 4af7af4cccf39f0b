/** {@code postroom subscription} and {@code postroom lane}: who wants which messages, how far each lane is, and who has it. */
@NullMarked
package io.postroom.server.subscription;

import org.jspecify.annotations.NullMarked;
