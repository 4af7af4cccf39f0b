/** Says why a message is where it is: {@code postroom why}. The answers come from {@code io.postroom.diagnosis}; here they are shown. */
@NullMarked
package io.postroom.server.why;

import org.jspecify.annotations.NullMarked;
