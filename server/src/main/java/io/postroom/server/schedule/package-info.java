/** {@code postroom schedule}: jobs that are enqueued again and again. */
@NullMarked
package io.postroom.server.schedule;

import org.jspecify.annotations.NullMarked;
