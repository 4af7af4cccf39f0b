/** {@code postroom schema}: brings the schema up to date, says where it stands, prints its SQL. */
@NullMarked
package io.postroom.server.schema;

import org.jspecify.annotations.NullMarked;
