package io.postroom.projection;

import java.time.Duration;

/** How old the oldest message is that a read model has not applied, and how old it may be. Zero: it has applied all there is. */
public record Age(Freshness freshness, Duration age, Duration ageMax) {

    /** Whether it may be read by whoever relies on its freshness. */
    public boolean isFresh() {
        return age.compareTo(ageMax) <= 0;
    }
}
