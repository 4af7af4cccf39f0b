/**
 * Messages as the program reads and shows them: upcasters from plugins, one line of JSON for each, and {@code postroom message}.
 */
@NullMarked
package io.postroom.server.message;

import org.jspecify.annotations.NullMarked;
