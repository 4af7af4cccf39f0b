/**
 * What the process and its database are at, for Prometheus: {@code /metrics}, beside console and API and behind the same gate.
 *
 * <p>One registry for each process: relay, maintenance and console write to it through core's telemetry, and one sampler reads the
 * database for it. Answering a scrape asks nobody. A process that dies takes its counts with it; Prometheus knows how to go on.
 */
@NullMarked
package io.postroom.server.metrics;

import org.jspecify.annotations.NullMarked;
