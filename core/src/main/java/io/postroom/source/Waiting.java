package io.postroom.source;

/**
 * What a move still waits for in the database.
 *
 * @param lanes how many lanes have not reached the cut
 * @param deliveries what waits before the cut, or was redriven
 * @param redriven redriven dead letters that the source has not applied yet
 */
public record Waiting(long lanes, long deliveries, long redriven) {
    public boolean isOver() {
        return lanes == 0 && deliveries == 0 && redriven == 0;
    }
}
