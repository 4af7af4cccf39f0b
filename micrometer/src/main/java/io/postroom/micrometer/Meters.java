package io.postroom.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Makes the meters of one schema: each has its name as a tag, so that two schemas of one process are told apart. */
final class Meters {
    private static final String SCHEMA = "schema";

    private final MeterRegistry registry;
    private final Tags common;

    Meters(MeterRegistry registry, String schema) {
        this.registry = registry;
        this.common = Tags.of(SCHEMA, schema);
    }

    MeterRegistry registry() {
        return registry;
    }

    /** Those of the schema, and these besides. */
    Tags tags(Tags more) {
        return common.and(more);
    }

    Counter counter(String name, String description, String... tags) {
        return Counter.builder(name)
                .description(description)
                .tags(common)
                .tags(tags)
                .register(registry);
    }

    Timer timer(String name, String description, String... tags) {
        return Timer.builder(name)
                .description(description)
                .tags(common)
                .tags(tags)
                .register(registry);
    }

    Timer histogram(String name, String description, Duration[] bounds, String... tags) {
        return Timer.builder(name)
                .description(description)
                .tags(common)
                .tags(tags)
                .serviceLevelObjectives(bounds)
                .register(registry);
    }

    Told told(String name, @Nullable String unit, String description, Duration staleAfter, String... tags) {
        Told told = new Told(staleAfter);
        Gauge.builder(name, told, Told::value)
                .description(description)
                .baseUnit(unit)
                .tags(common)
                .tags(tags)
                .strongReference(true)
                .register(registry);
        return told;
    }
}
