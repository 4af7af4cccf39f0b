package io.postroom.relay;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The answer of every healthy send, made once. */
final class Outcomes {
    static final Outcome ACCEPTED = new Outcome.Accepted();
    static final CompletionStage<Outcome> ACCEPTED_STAGE = CompletableFuture.completedStage(ACCEPTED);

    private Outcomes() {}
}
