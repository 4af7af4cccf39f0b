package io.postroom.deadletter;

import java.time.Duration;

/**
 * What one step of a redrive came to.
 *
 * @param redrive how it stands now
 * @param letters how many dead letters this step looked at
 * @param pause how long to wait before the next step; zero if it can follow at once or there is none
 */
public record RedriveStep(Redrive redrive, int letters, Duration pause) {}
