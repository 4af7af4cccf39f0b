package io.postroom.server.dev;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** What has flowed since the beginning, as the meters of the process counted it. */
final class Flow {
    private final MeterRegistry registry;

    Flow(MeterRegistry registry) {
        this.registry = registry;
    }

    long stamped() {
        return sum("postroom.journal.stamped");
    }

    long delivered(String subscription) {
        return sum("postroom.relay.delivered", "subscription", subscription);
    }

    long failed(String subscription) {
        return sum("postroom.relay.failures", "subscription", subscription);
    }

    private long sum(String name, String... tags) {
        return Math.round(registry.find(name).tags(tags).counters().stream()
                .mapToDouble(Counter::count)
                .sum());
    }
}
