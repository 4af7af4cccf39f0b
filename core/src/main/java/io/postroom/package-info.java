/** Reliable messaging and coordination on PostgreSQL. Start at {@link io.postroom.Postroom}. */
@NullMarked
package io.postroom;

import org.jspecify.annotations.NullMarked;
