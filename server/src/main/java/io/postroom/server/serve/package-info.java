/**
 * {@code postroom serve}: everything that a system needs besides its applications, in one process: relay, maintenance, API and
 * console, or some of them. Each part is the one that runs alone elsewhere; a process that dies leaves what they leave, and nothing
 * more.
 */
@NullMarked
package io.postroom.server.serve;

import org.jspecify.annotations.NullMarked;
