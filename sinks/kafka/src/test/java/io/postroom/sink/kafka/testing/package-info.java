/** A real Kafka broker for tests, published as this module's test-jar. */
@NullMarked
package io.postroom.sink.kafka.testing;

import org.jspecify.annotations.NullMarked;
