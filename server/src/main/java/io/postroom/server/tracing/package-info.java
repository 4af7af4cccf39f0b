/** Spans of this process, and where they go: to a collector, by OTLP over HTTP. */
@NullMarked
package io.postroom.server.tracing;

import org.jspecify.annotations.NullMarked;
