/** Messages as the program shows them: one line of JSON each. */
@NullMarked
package io.postroom.server.message;

import org.jspecify.annotations.NullMarked;
