package io.postroom.journal;

import java.time.LocalDate;

/** Where a lane reads on: after this position, whose entries are of this day or later. */
public record LanePosition(long position, LocalDate day) {}
