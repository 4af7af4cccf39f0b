package io.postroom.projection;

import java.time.Duration;

/**
 * How old what a read model shows may be, as the business sees it. Each has a limit for the age of the oldest message that the model has
 * not applied; a read model may have another.
 */
public enum Freshness {
    /** As soon as it can be: a page that is shown after an update. Whoever must see an own write reads the tables it wrote. */
    FRESH("fresh", Duration.ofSeconds(5)),
    /** Seconds old: an operational dashboard. */
    SECONDS("seconds", Duration.ofMinutes(1)),
    /** Minutes old: a summary for analysis. */
    MINUTES("minutes", Duration.ofHours(1)),
    /** Up to a day old: a report. */
    DAILY("daily", Duration.ofHours(26));

    private final String word;
    private final Duration ageMax;

    Freshness(String word, Duration ageMax) {
        this.word = word;
        this.ageMax = ageMax;
    }

    /** The limit unless a read model has another. */
    public Duration ageMax() {
        return ageMax;
    }

    /** As it is stored and printed. */
    public String word() {
        return word;
    }

    static Freshness of(String word) {
        for (Freshness freshness : values()) {
            if (freshness.word.equals(word)) {
                return freshness;
            }
        }
        throw new IllegalArgumentException(word + " is no freshness");
    }
}
