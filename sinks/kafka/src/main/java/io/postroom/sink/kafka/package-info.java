/**
 * A sink that writes messages to Kafka topics as CloudEvents in binary mode.
 *
 * <p>A message is accepted when the broker has acknowledged it with {@code acks=all}, and not before. Its way:
 *
 * <ol>
 *   <li>{@link io.postroom.sink.kafka.TopicTemplate} names the topic; a message that fits no topic name is rejected.
 *   <li>The lane's own thread offers the record to the producer, which takes it or refuses it at once.
 *   <li>A refused record, whose topic is not known or for which there is no room, is left to a thread that asks again for a
 *       while and then sends all that waits for the topic. Order per key needs no care here, since a lane sends one message of
 *       a key at a time.
 *   <li>The broker's answer, or the producer's error, becomes an outcome in {@link io.postroom.sink.kafka.Verdict}.
 *   <li>A producer in a state it cannot leave is closed and replaced before anything else is sent.
 * </ol>
 *
 * <p>A crash at any step leaves a message either unsent or sent but not settled; the relay sends it again with the same id.
 */
@NullMarked
package io.postroom.sink.kafka;

import org.jspecify.annotations.NullMarked;
