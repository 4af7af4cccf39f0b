/**
 * The way to PostgreSQL: named statements from files, short transactions, the schema and its migrations.
 *
 * <p>This is the only package that sees an {@link java.sql.SQLException} as such; everything above gets a
 * {@link io.postroom.postgres.DatabaseException} with the SQLSTATE. Nothing here decides anything about messages.
 */
@NullMarked
package io.postroom.postgres;

import org.jspecify.annotations.NullMarked;
