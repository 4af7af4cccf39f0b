/**
 * From what a user gives (a URL, the environment) to a database that answers, and from the driver's errors to sentences that
 * say what to do. Passwords enter here and never leave except to the driver.
 */
@NullMarked
package io.postroom.server.postgres;

import org.jspecify.annotations.NullMarked;
