/**
 * What to do about an attempt that failed: whether and when to try again, and what to remember of the error.
 *
 * <p>Three steps, none of which keeps any state:
 *
 * <ol>
 *   <li>{@link io.postroom.retry.Fault} turns an exception, or a sink's word, into what may be stored and shown: a class, one
 *       redacted line, a fingerprint that groups errors of one cause;
 *   <li>{@link io.postroom.retry.RetryPolicy} looks for the {@link io.postroom.retry.Reaction} to that fault, and asks its waits
 *       if there is none;
 *   <li>the {@link io.postroom.retry.Decision} says to try again after a wait, to give up, or that the destination is
 *       unavailable.
 * </ol>
 *
 * <p>Attempts are counted by whoever makes them, in its own table, before each one starts: a crash in the middle of an attempt
 * has used it up, and a message that kills the process comes to an end too. Nothing is lost in a crash because nothing is kept
 * here.
 *
 * <p>{@link io.postroom.retry.Backoff} is the plain doubling wait of loops that never give up.
 */
@NullMarked
package io.postroom.retry;

import org.jspecify.annotations.NullMarked;
