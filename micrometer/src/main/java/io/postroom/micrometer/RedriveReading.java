package io.postroom.micrometer;

import io.postroom.Postroom;
import io.postroom.deadletter.RedriveAction;
import java.util.Map;

/** What redrives have done in all. Apart from the rest: it reads every act that there ever was. */
final class RedriveReading implements Reading {
    private static final Figure REDRIVEN = Figure.total(
            "postroom.deadletter.redriven", "Dead letters that were redriven or discarded, by any process.");

    @Override
    public void read(Postroom postroom, Figures figures) {
        Map<RedriveAction, Long> resolved = postroom.deadLetters().redrives().resolved();
        for (RedriveAction action : RedriveAction.values()) {
            figures.put(REDRIVEN, resolved.getOrDefault(action, 0L), "action", action.word());
        }
    }
}
