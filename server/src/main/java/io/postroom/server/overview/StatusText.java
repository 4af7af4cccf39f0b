package io.postroom.server.overview;

import io.postroom.job.JobQueue;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.web.Shown;
import io.postroom.subscription.SubscriptionState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** One screen, for people and for programs. Nothing in it is obeyed by a terminal. */
final class StatusText {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int LINE_LENGTH_MAX = 400;
    private static final int TROUBLES_MAX = 10;

    private final Overview overview;
    private final List<JobQueue> queues;
    private final List<NodeTable.Node> nodes;

    StatusText(Overview overview, List<JobQueue> queues, List<NodeTable.Node> nodes) {
        this.overview = overview;
        this.queues = queues;
        this.nodes = nodes;
    }

    String screen() {
        StringBuilder text = new StringBuilder(head(overview));
        table(
                text,
                "",
                subscriptions(overview.sample().subscriptions()),
                overview.sample().subscriptions().isEmpty());
        Listing jobs = jobs();
        table(text, "jobs", jobs, queues.isEmpty());
        table(text, "nodes", nodes(), nodes.isEmpty());
        return text.toString();
    }

    private static void table(StringBuilder text, String name, Listing listing, boolean isEmpty) {
        if (!isEmpty) {
            text.append('\n').append(name.isEmpty() ? "" : name + "\n").append(listing.table());
        }
    }

    /** The sentence, what is wrong, and the figures. */
    static String head(Overview overview) {
        StringBuilder text = new StringBuilder();
        line(text, overview.sentence());
        List<Trouble> troubles = overview.troubles();
        for (Trouble trouble : troubles.subList(0, Math.min(TROUBLES_MAX, troubles.size()))) {
            line(text, "  " + pad(trouble.level().word()) + trouble.what() + ": " + trouble.why());
            if (trouble.command() != null) {
                line(text, "  " + pad("") + trouble.command());
            }
        }
        if (troubles.size() > TROUBLES_MAX) {
            line(text, "  and " + (troubles.size() - TROUBLES_MAX) + " more: -o json has them all");
        }
        Sample sample = overview.sample();
        Delay.Percentiles delays = overview.commitToDelivery();
        text.append('\n');
        line(
                text,
                "lag " + Shown.duration(sample.lag()) + ", backlog " + Shown.count(sample.backlog(), "message")
                        + (overview.forecast().isEmpty() ? "" : " (" + overview.forecast() + ")")
                        + ", dead letters " + Shown.number(sample.deadLetters()) + ", failed jobs "
                        + Shown.number(sample.work().failedJobs()) + ", held keys "
                        + Shown.number(sample.heldKeys()) + ", put aside "
                        + Shown.number(sample.putAside()) + ", commit to delivery "
                        + (delays == null
                                ? "–"
                                : Shown.duration(delays.p50()) + " / " + Shown.duration(delays.p99()) + " (p50 / p99)")
                        + ", position " + sample.position());
        return text.toString();
    }

    private static Listing subscriptions(List<SubscriptionState> states) {
        Listing listing = new Listing(
                "subscription", "lanes", "lag", "behind", "putAside", "deadLetters", "heldKeys", "position");
        states.forEach(state -> listing.row(
                state.name(),
                state.lanesLeased() + "/" + state.lanes(),
                state.lag(),
                state.lagMessages(),
                state.putAside().total(),
                state.deadLetters(),
                state.heldKeys(),
                state.position()));
        return listing;
    }

    private Listing jobs() {
        Listing listing = new Listing("queue", "ready", "waiting", "running", "workers", "pausedAt");
        queues.forEach(queue -> listing.row(
                queue.name(), queue.ready(), queue.waiting(), queue.running(), queue.workers(), queue.pausedAt()));
        return listing;
    }

    private Listing nodes() {
        Listing listing = new Listing("kind", "name", "serves", "startedAt", "lease");
        nodes.forEach(node -> listing.row(node.kind(), node.name(), node.serves(), node.startedAt(), node.lease()));
        return listing;
    }

    /** What the API says, with jobs and nodes. */
    String json() {
        Map<String, @Nullable Object> status = StatusJson.of(overview);
        status.put("jobs", jobs().objects());
        status.put("nodes", nodes().objects());
        return JSON.writeValueAsString(status) + "\n";
    }

    private static String pad(String word) {
        return word + " ".repeat(Math.max(1, 9 - word.length()));
    }

    private static void line(StringBuilder text, String line) {
        text.append(Quoted.text(line, LINE_LENGTH_MAX)).append('\n');
    }
}
