package io.postroom.projection;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A read model and its generations, oldest first.
 *
 * @param version the newest that a relay has said it serves
 * @param age of what it shows; of one that was never made, how long it has been wanted, zero if nobody wants it any more
 * @param rolledBackFrom the generation that the last rollback left, until the next swap
 */
public record ReadModelState(
        String name,
        int version,
        List<String> ignored,
        long epoch,
        int lastGeneration,
        @Nullable Integer rolledBackFrom,
        Instant createdAt,
        Age age,
        List<GenerationState> generations) {

    /** Whether it may be read by whoever relies on its freshness; one that was never made may not. */
    public boolean isFresh() {
        return live().isPresent() && age.isFresh();
    }

    public Optional<GenerationState> live() {
        return generations.stream().filter(GenerationState::isLive).findFirst();
    }

    public Optional<GenerationState> generation(int number) {
        return generations.stream().filter(each -> each.number() == number).findFirst();
    }

    /** The one that is asked for or on its way to the present. */
    public Optional<GenerationState> building() {
        return generations.stream()
                .filter(each -> each.state().equals("asked") || each.state().equals("building"))
                .findFirst();
    }
}
