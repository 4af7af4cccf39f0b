/** Which way to go from here: {@code postroom advise}. The figures and the rules are in {@code io.postroom.advice}; here they are shown. */
@NullMarked
package io.postroom.server.advice;

import org.jspecify.annotations.NullMarked;
