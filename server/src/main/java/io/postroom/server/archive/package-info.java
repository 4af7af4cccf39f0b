/**
 * {@code postroom archive}: old days as operators see them. What is archived, run, exported and dropped is decided in core's
 * {@code archive}; here are words, files and exit codes.
 *
 * <p>An export is written beside its name and moved there when it is whole, so that a file of that name is always a whole day. What a
 * crash leaves behind is a file that ends in {@code .part}.
 */
@NullMarked
package io.postroom.server.archive;

import org.jspecify.annotations.NullMarked;
