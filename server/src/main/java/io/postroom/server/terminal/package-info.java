/**
 * How commands speak and are spoken to: data on standard output, talk on standard error, one exit code, times and durations in
 * one form everywhere. Nothing here knows what a message is.
 */
@NullMarked
package io.postroom.server.terminal;

import org.jspecify.annotations.NullMarked;
