/** Whether a database is fit: {@code postroom doctor}. What is looked at is in {@code io.postroom.doctor}; here it is shown. */
@NullMarked
package io.postroom.server.doctor;

import org.jspecify.annotations.NullMarked;
