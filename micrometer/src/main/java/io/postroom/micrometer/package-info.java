/**
 * What Postroom does, as meters of Micrometer: docs/operating/metrics.md has them all.
 *
 * <p>{@link io.postroom.micrometer.MeteredTelemetry} hears what happens in its own process and counts it; a process that dies takes its
 * counts with it, as every process does. {@link io.postroom.micrometer.DatabaseSampler} reads what only the database knows, in each
 * process that has one and on a thread of its own, whoever asks for the figures and however often. What it cannot read any more is not
 * a number, never the last one that it knew.
 *
 * <p>Each meter has the tag {@code schema}: several schemas, each with a telemetry and a sampler of its own, may share a registry.
 *
 * <p>Nothing that is published, no key and no tenant becomes a tag. A tag has so many values at most; what comes beyond them is counted
 * together as {@code other}.
 */
@NullMarked
package io.postroom.micrometer;

import org.jspecify.annotations.NullMarked;
