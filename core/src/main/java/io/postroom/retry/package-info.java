/** How long to wait before trying again. */
@NullMarked
package io.postroom.retry;

import org.jspecify.annotations.NullMarked;
