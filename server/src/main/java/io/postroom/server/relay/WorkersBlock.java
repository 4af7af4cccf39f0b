package io.postroom.server.relay;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.job.JobOutcome;
import io.postroom.job.Kind;
import io.postroom.job.Workers;
import io.postroom.opentelemetry.Tracing;
import io.postroom.retry.RetryPolicy;
import io.postroom.schedule.Schedule;
import io.postroom.server.job.JobOrigin;
import io.postroom.server.job.PublishHandler;
import io.postroom.server.job.WebhookHandler;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.sink.webhook.WebhookSink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Workers as a file describes them: the blocks {@code workers}, {@code jobs} and {@code schedules}. Close it to close what the jobs are
 * sent through.
 */
public final class WorkersBlock implements AutoCloseable {
    static final int CONNECTIONS_MIN = 6;
    private static final int CONNECTIONS_MAX = 200;
    private static final int CONNECTIONS_USUAL_MAX = 20;

    /** A webhook waits for seconds, and an endpoint is away for minutes. */
    private static final String RETRY = "exponential";

    private static final Duration DEADLINE = Duration.ofMinutes(5);

    private final Map<String, Integer> queues = new LinkedHashMap<>();
    private final List<Task> tasks = new ArrayList<>();
    private final List<Schedule> schedules = new ArrayList<>();
    private String name = "worker";
    private Duration lease = Duration.ofSeconds(15);
    private Duration stopGrace = Duration.ofSeconds(10);
    private Duration pollMin = Duration.ofMillis(2);
    private Duration pollMax = Duration.ofMillis(100);
    private int connections;

    private WorkersBlock() {}

    /** What a kind of job is done by. */
    private sealed interface Target {
        Kind kind(String name, Postroom postroom, JobOrigin origin, @Nullable Tracing spans);
    }

    private record ByWebhook(WebhookSink sink, List<Address> addresses) implements Target {
        @Override
        public Kind kind(String name, Postroom postroom, JobOrigin origin, @Nullable Tracing spans) {
            WebhookHandler handler = new WebhookHandler(sink, origin);
            return Kind.of(name, spans == null ? handler : spans.job(handler));
        }
    }

    private record ByPublishing(PublishHandler.Event event) implements Target {
        @Override
        public Kind kind(String name, Postroom postroom, JobOrigin origin, @Nullable Tracing spans) {
            PublishHandler handler = new PublishHandler(postroom.outbox(), event);
            return Kind.transactional(name, spans == null ? handler : spans.transactionalJob(handler));
        }
    }

    /** A kind of job in the file. */
    private record Task(String kind, RetryPolicy retry, Duration deadline, Target target) {}

    /** Reads the three blocks; {@code needed} says whether a file without anything to do has a problem. */
    static WorkersBlock read(Section root, Targets targets, Map<String, String> environment, boolean needed) {
        WorkersBlock block = new WorkersBlock();
        block.name = environment.getOrDefault("HOSTNAME", "worker");
        root.section("workers").ifPresent(block::settings);
        Map<String, Section> jobs = root.section("jobs").map(Section::sections).orElse(Map.of());
        jobs.forEach((kind, section) -> block.job(kind, section, targets));
        root.section("schedules")
                .map(Section::sections)
                .orElse(Map.of())
                .forEach((name, section) -> ScheduleWords.read(name, section)
                        .ifPresent(schedule -> block.schedule(schedule, section, jobs.keySet())));
        if (jobs.isEmpty() && !block.queues.isEmpty()) {
            root.problem(root.lineOf("workers"), "jobs has none; workers.queues needs kinds of jobs to do");
        } else if (!jobs.isEmpty() && block.queues.isEmpty()) {
            root.problem(
                    root.lineOf("jobs"),
                    "workers.queues has none; name queues for these jobs alone, with their threads: {hooks: 4}");
        } else if (needed && jobs.isEmpty() && block.schedules.isEmpty()) {
            root.problem(root.lineOf("jobs"), "jobs has none; workers need a kind of job to do, or a schedule to fire");
        }
        return block;
    }

    private void settings(Section workers) {
        workers.read("name", text -> name = checked(text, builder -> builder.name(text)));
        workers.duration("lease", value -> lease = checked(value, builder -> builder.lease(value)));
        workers.duration("stop-grace", value -> stopGrace = checked(value, builder -> builder.stopGrace(value)));
        workers.duration("poll-min", value -> pollMin = value);
        workers.duration("poll-max", value -> pollMax = value);
        try {
            checked("", builder -> builder.poll(pollMin, pollMax));
        } catch (IllegalArgumentException e) {
            workers.problem(workers.line(), workers.path() + ": " + e.getMessage());
        }
        workers.integer("connections", value -> connections = connections(value));
        workers.each("queues", (queue, text) -> {
            if (!text.matches("\\d{1,9}")) {
                throw new IllegalArgumentException("'" + Quoted.text(text, 60) + "' is not a number of threads");
            }
            int threads = Integer.parseInt(text);
            queues.put(queue, checked(threads, builder -> builder.queue(queue, threads)));
        });
        workers.close();
    }

    private static int connections(int value) {
        if (value < CONNECTIONS_MIN || value > CONNECTIONS_MAX) {
            throw new IllegalArgumentException("is " + value + ", the range is " + CONNECTIONS_MIN + " to "
                    + CONNECTIONS_MAX + ": claims, ends, heartbeats, schedules and a transaction each take one");
        }
        return value;
    }

    private void job(String kind, Section section, Targets targets) {
        RetryPolicy retry = RetryWords.read(section, RETRY);
        Duration[] deadline = {DEADLINE};
        section.duration(
                "deadline",
                value -> deadline[0] =
                        checked(value, builder -> builder.handle(idle("kind").deadline(value))));
        try {
            checked(kind, builder -> builder.handle(idle(kind)));
        } catch (IllegalArgumentException e) {
            section.problem(section.line(), section.path() + ": " + e.getMessage());
        }
        target(section, targets).ifPresent(target -> tasks.add(new Task(kind, retry, deadline[0], target)));
        section.close();
    }

    private void schedule(Schedule schedule, Section section, Set<String> kinds) {
        String kind = schedule.job().kind();
        String queue = schedule.job().queue();
        if (queues.containsKey(queue) && !kinds.contains(kind)) {
            section.problem(
                    section.line(),
                    section.path() + ".job: kind " + kind + " is none of jobs, and queue " + queue + " is for those"
                            + Suggestion.didYouMean(kind, kinds));
        }
        schedules.add(schedule);
    }

    private Optional<Target> target(Section section, Targets targets) {
        if (section.has("webhook") == section.has("publish")) {
            section.problem(
                    section.line(),
                    section.path() + (section.has("webhook") ? " has several targets" : " has no target")
                            + "; give one of webhook and publish");
            return Optional.empty();
        }
        if (section.has("publish")) {
            return section.section("publish").flatMap(WorkersBlock::event).map(ByPublishing::new);
        }
        Section target = section.section("webhook").orElseThrow();
        Optional<WebhookSink> sink = targets.webhook(target, Math.max(1, threads()));
        target.close();
        return sink.map(
                found -> new ByWebhook(found, Address.ofUrl(target.text("url").orElse(""))));
    }

    private static Optional<PublishHandler.Event> event(Section publish) {
        int[] version = {1};
        publish.integer("event-version", value -> version[0] = value);
        String aggregateType = publish.text("aggregate-type").orElse("");
        String aggregateId = publish.text("aggregate-id").orElse(null);
        String field = publish.text("aggregate-id-field").orElse(null);
        String eventType = publish.text("event-type").orElse("");
        publish.close();
        try {
            return Optional.of(new PublishHandler.Event(aggregateType, aggregateId, field, eventType, version[0]));
        } catch (IllegalArgumentException e) {
            publish.problem(publish.line(), publish.path() + ": " + e.getMessage());
        } catch (PostroomException e) {
            publish.problem(publish.line(), publish.path() + ": " + fact(e));
        }
        return Optional.empty();
    }

    /** The value, if core takes it: its ranges are not repeated here. */
    private static <T> T checked(T value, UnaryOperator<Workers.Builder> setting) {
        Workers.Builder builder = Postroom.on(new PGSimpleDataSource())
                .jobs()
                .workers()
                .queue("queue", 1)
                .handle(idle("idle"));
        try {
            setting.apply(builder).build();
            return value;
        } catch (PostroomException e) {
            throw new IllegalArgumentException(fact(e), e);
        }
    }

    /** Without what could not be done: there is no worker and no message yet. */
    private static String fact(PostroomException e) {
        String message = String.valueOf(e.getMessage());
        return message.substring(message.indexOf(": ") + 2);
    }

    private static Kind idle(String kind) {
        return Kind.of(kind, job -> JobOutcome.done());
    }

    private int threads() {
        return queues.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Whether there is something to do, or to fire. */
    public boolean isEmpty() {
        return tasks.isEmpty() && schedules.isEmpty();
    }

    public Duration stopGrace() {
        return isEmpty() ? Duration.ZERO : stopGrace;
    }

    /** Where the webhooks of each kind go. */
    Map<String, List<Address>> destinations() {
        Map<String, List<Address>> destinations = new TreeMap<>();
        tasks.forEach(task -> {
            if (task.target() instanceof ByWebhook webhook) {
                destinations.put("job " + task.kind(), webhook.addresses());
            }
        });
        return destinations;
    }

    /** As many connections as it can use at once; none if there is nothing to do. */
    public int connections() {
        if (isEmpty()) {
            return 0;
        }
        return connections > 0 ? connections : Math.min(CONNECTIONS_MIN + threads(), CONNECTIONS_USUAL_MAX);
    }

    /** What fires here. */
    public List<Schedule> schedules() {
        return List.copyOf(schedules);
    }

    /** The workers on a database, not yet started; empty if there are only schedules. */
    public Optional<Workers> workers(Postroom postroom) {
        return workers(postroom, null);
    }

    /** The same, with a span for each attempt at a job. */
    public Optional<Workers> workers(Postroom postroom, @Nullable Tracing spans) {
        if (tasks.isEmpty()) {
            return Optional.empty();
        }
        Workers.Builder builder = postroom.jobs()
                .workers()
                .name(name)
                .lease(lease)
                .stopGrace(stopGrace)
                .poll(pollMin, pollMax);
        queues.forEach(builder::queue);
        JobOrigin origin = new JobOrigin(postroom.database());
        tasks.forEach(task -> builder.handle(task.target()
                .kind(task.kind(), postroom, origin, spans)
                .retry(task.retry())
                .deadline(task.deadline())));
        try {
            return Optional.of(builder.build());
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        tasks.forEach(task -> {
            if (task.target() instanceof ByWebhook webhook) {
                webhook.sink().close();
            }
        });
    }
}
