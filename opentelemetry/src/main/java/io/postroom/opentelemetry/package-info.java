/**
 * Spans for OpenTelemetry: one where a message is published or a job enqueued, and one for each delivery or attempt, linked to it.
 *
 * <p>The span of the publication is current while the message is inserted, so core writes its context into the message's
 * {@code traceparent}. That header stays as it is on the whole way: it says where the message began, for as many subscriptions as there
 * are and however often it is tried. A delivery is therefore no child of the publication but a trace of its own with a link to it; what
 * the sink or handler does is below the delivery. The same holds for a job and its attempts.
 *
 * <p>Nothing here changes what is delivered. A process that dies takes the spans with it that have not ended.
 */
@NullMarked
package io.postroom.opentelemetry;

import org.jspecify.annotations.NullMarked;
