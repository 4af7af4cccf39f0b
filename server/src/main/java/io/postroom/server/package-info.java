/** The program {@code postroom}: one command line in, an exit code out. Start at {@link io.postroom.server.Main}. */
@NullMarked
package io.postroom.server;

import org.jspecify.annotations.NullMarked;
