/**
 * {@code postroom dev}: the whole product on one machine, to try out. A PostgreSQL of its own with data in a local folder, a
 * relay with subscriptions in this process, and two businesses that change their tables and publish in the same transactions.
 */
@NullMarked
package io.postroom.server.dev;

import org.jspecify.annotations.NullMarked;
