/** {@code postroom projection} and {@code postroom view}: read models, their generations, and materialized views. */
@NullMarked
package io.postroom.server.projection;

import org.jspecify.annotations.NullMarked;
