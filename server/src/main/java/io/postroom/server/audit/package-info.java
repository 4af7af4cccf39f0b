/** {@code postroom audit}: what operators did, and why. */
@NullMarked
package io.postroom.server.audit;

import org.jspecify.annotations.NullMarked;
