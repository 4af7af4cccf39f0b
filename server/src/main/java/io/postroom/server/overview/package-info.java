/**
 * The first page of the console: how things stand in a sentence, what is wrong, worst first, and how the last hour went.
 *
 * <p>{@link io.postroom.server.overview.Sampler} looks at the subscriptions every few seconds, whoever and however many watch, and
 * keeps an hour of it in memory: a hundred open pages cost the database as much as none. A process that dies takes that hour with
 * it and nothing else.
 */
@NullMarked
package io.postroom.server.overview;

import org.jspecify.annotations.NullMarked;
