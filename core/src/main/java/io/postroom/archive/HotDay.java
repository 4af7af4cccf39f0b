package io.postroom.archive;

import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/** A day that is old enough to be archived, where its messages end, and who needs it, if somebody does. */
public record HotDay(LocalDate day, long passedAt, @Nullable String need) {}
