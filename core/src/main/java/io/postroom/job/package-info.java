/** Work for later. */
@NullMarked
package io.postroom.job;

import org.jspecify.annotations.NullMarked;
