/**
 * {@code postroom relay}: a relay as a process of its own, described by a file.
 *
 * <p>The file is read as a whole before anything is started: {@link io.postroom.server.relay.Yaml} turns text into nodes that
 * know their lines, {@link io.postroom.server.relay.Section} hands out settings and collects every problem,
 * {@link io.postroom.server.relay.RelayFile} knows the settings, with {@link io.postroom.server.relay.WorkersBlock} for jobs and
 * schedules. Secrets come from variables and files and are never shown.
 */
@NullMarked
package io.postroom.server.relay;

import org.jspecify.annotations.NullMarked;
