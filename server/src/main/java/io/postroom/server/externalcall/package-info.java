/** {@code postroom externalcall}: calls to others, and what to say about those that nobody knows the end of. */
@NullMarked
package io.postroom.server.externalcall;

import org.jspecify.annotations.NullMarked;
