/**
 * What travels: a {@link io.postroom.message.Message} with its key, version, payload and headers, and the
 * {@link io.postroom.message.Envelope} in which a subscriber gets it.
 *
 * <p>A message never changes. Its id is made by the writer before anything is stored, so that it stays the same over every
 * retry, redelivery, redrive and replay: consumers recognise a duplicate by it. Nothing here touches the database.
 *
 * <p>Payloads change their shape over the years; what is stored does not. {@link io.postroom.message.Upcasters} turn an old
 * {@code eventVersion} into the newest each time a message is read, so that readers know only the newest. A message of a version that
 * is newer than the reader's code is not guessed at: it is put aside.
 */
@NullMarked
package io.postroom.message;

import org.jspecify.annotations.NullMarked;
