package io.postroom.journal;

import java.time.LocalDate;

/** How far the journal goes: the last position given out, and the day on which it was. */
public record Head(long position, LocalDate day) {}
