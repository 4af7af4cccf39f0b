/**
 * What travels: a {@link io.postroom.message.Message} with its key, version, payload and headers, and the
 * {@link io.postroom.message.Envelope} in which a subscriber gets it.
 *
 * <p>A message never changes. Its id is made by the writer before anything is stored, so that it stays the same over every
 * retry, redelivery, redrive and replay: consumers recognise a duplicate by it. Nothing here touches the database.
 */
@NullMarked
package io.postroom.message;

import org.jspecify.annotations.NullMarked;
