/** {@code postroom job}: work for later, what became of it, and the queues it waits in. */
@NullMarked
package io.postroom.server.job;

import org.jspecify.annotations.NullMarked;
