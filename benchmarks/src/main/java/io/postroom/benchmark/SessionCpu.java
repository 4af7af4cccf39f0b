package io.postroom.benchmark;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** The processor time of the sessions of one application since the first look. A session that ends counts up to the last look before. */
final class SessionCpu {
    private final BenchDatabase database;
    private final String application;
    private final Map<Long, Long> first = new HashMap<>();
    private final Map<Long, Long> last = new HashMap<>();
    private boolean hasLooked;

    SessionCpu(BenchDatabase database, String application) {
        this.database = database;
        this.application = application;
    }

    void look() {
        String pids = database.queryText(
                "select coalesce(string_agg(pid::text, ','), '') from pg_stat_activity where datname = current_database() and"
                        + " application_name = '" + application + "'");
        for (String word : pids.isEmpty() ? new String[0] : pids.split(",")) {
            long pid = Long.parseLong(word);
            OptionalLong ticks = ServerCpu.ticks(pid);
            if (ticks.isPresent()) {
                // One that was not there at the first look has used nothing before it began.
                first.putIfAbsent(pid, hasLooked ? 0 : ticks.getAsLong());
                last.put(pid, ticks.getAsLong());
            }
        }
        hasLooked = true;
    }

    /** Empty where the system does not show it. */
    OptionalDouble seconds() {
        if (last.isEmpty()) {
            return OptionalDouble.empty();
        }
        long ticks = last.entrySet().stream()
                .mapToLong(entry -> entry.getValue() - first.getOrDefault(entry.getKey(), 0L))
                .sum();
        return OptionalDouble.of(ticks / ServerCpu.TICKS_PER_SECOND);
    }
}
