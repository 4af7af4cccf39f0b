/**
 * Which way to go from here: polling or change data capture, PostgreSQL or a broker, how many lanes, how large partitions may be.
 *
 * <p>{@link io.postroom.advice.Advisor} reads {@link io.postroom.advice.Figures} from ticks, settlements, catalogs and statistics, with
 * bounded reads and without changing anything, so that a process that dies leaves nothing behind. {@link io.postroom.advice.Rules}
 * decides by figures and wishes alone: decision trees, each threshold with its source.
 */
@NullMarked
package io.postroom.advice;

import org.jspecify.annotations.NullMarked;
