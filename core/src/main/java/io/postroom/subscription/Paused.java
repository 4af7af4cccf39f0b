package io.postroom.subscription;

import java.time.Duration;

/**
 * A subscription that is paused.
 *
 * @param already whether it was paused before, and nothing was done now
 * @param leased how many lanes relays still have; they give them back
 * @param within how long until the relays hear of it, at most
 */
public record Paused(Pause pause, boolean already, int leased, Duration within) {}
