package io.postroom.server.overview;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How everything stands, for programs: the same for the API and the command line. The names never change. */
final class StatusJson {
    private StatusJson() {}

    static Map<String, @Nullable Object> of(Overview overview) {
        Sample sample = overview.sample();
        Map<String, @Nullable Object> status = new LinkedHashMap<>();
        status.put("at", sample.at().toString());
        status.put("sentence", overview.sentence());
        status.put("position", sample.position());
        status.put("backlogMessages", sample.backlog());
        status.put("lagSeconds", sample.lag().toMillis() / 1000.0);
        status.put("publishedPerSecond", overview.published());
        status.put("deliveredPerSecond", overview.delivered());
        Delay.Percentiles delays = overview.commitToDelivery();
        status.put("commitToDeliverySeconds", delays == null ? null : percentiles(delays));
        status.put("backlogGrowthPerSecond", overview.backlogSlope());
        status.put("deadLetters", sample.deadLetters());
        status.put("failedJobs", sample.work().failedJobs());
        status.put("heldKeys", sample.heldKeys());
        status.put("putAside", sample.putAside());
        status.put("relays", sample.footing().relays());
        status.put(
                "problems",
                overview.troubles().stream().map(StatusJson::problem).toList());
        return status;
    }

    private static Map<String, @Nullable Object> percentiles(Delay.Percentiles delays) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put("p50", delays.p50().toNanos() / 1e9);
        values.put("p95", delays.p95().toNanos() / 1e9);
        values.put("p99", delays.p99().toNanos() / 1e9);
        return values;
    }

    private static Map<String, @Nullable Object> problem(Trouble trouble) {
        Map<String, @Nullable Object> problem = new LinkedHashMap<>();
        problem.put("level", trouble.level().word());
        problem.put("what", trouble.what());
        problem.put("why", trouble.why());
        problem.put("path", trouble.path());
        problem.put("command", trouble.command());
        return problem;
    }
}
