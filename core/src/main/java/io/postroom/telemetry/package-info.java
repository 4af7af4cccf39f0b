/** What Postroom tells about itself: counts and times for whoever keeps metrics, and the trace a message belongs to. */
@NullMarked
package io.postroom.telemetry;

import org.jspecify.annotations.NullMarked;
