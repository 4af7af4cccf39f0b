package io.postroom.server.relay;

import io.postroom.PostroomException;
import io.postroom.job.Job;
import io.postroom.job.Jobs;
import io.postroom.schedule.Cron;
import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Missed;
import io.postroom.schedule.Schedule;
import io.postroom.server.terminal.Durations;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A block of {@code schedules}: when, and which job is enqueued then. */
final class ScheduleWords {
    private static final List<String> TIMES = List.of("cron", "every", "delay");

    private ScheduleWords() {}

    /** Empty if there is a problem with it. */
    static Optional<Schedule> read(String name, Section section) {
        Optional<Job> job = section.section("job").flatMap(ScheduleWords::job);
        if (!section.has("job")) {
            section.problem(section.line(), section.path() + " has no job; say which kind, in which queue");
        }
        List<String> times = TIMES.stream().filter(section::has).toList();
        if (times.size() != 1) {
            section.problem(
                    section.line(),
                    section.path() + (times.isEmpty() ? " has no time" : " has several times")
                            + "; give one of cron, every and delay");
        }
        if (section.has("zone") && !section.has("cron")) {
            section.problem(section.lineOf("zone"), section.name("zone") + " is for cron alone");
        }
        String zone = section.text("zone").orElse("UTC");
        Missed[] missed = {null};
        section.read("missed", word -> missed[0] = missed(word));
        boolean overlap = !section.has("overlap") || section.bool("overlap");
        // Where the job has a problem the times are to be heard of all the same.
        Job some = job.orElseGet(() -> Job.of("job", "{}").build());
        Schedule[] read = {null};
        String time = times.isEmpty() ? "cron" : times.get(0);
        section.read(time, text -> {
            Schedule schedule = schedule(name, time, text, zone, some);
            schedule = missed[0] == null ? schedule : schedule.missed(missed[0]);
            read[0] = overlap ? schedule : schedule.withoutOverlap();
        });
        section.close();
        return job.isPresent() && times.size() == 1 ? Optional.ofNullable(read[0]) : Optional.empty();
    }

    private static Schedule schedule(String name, String time, String text, String zone, Job job) {
        return switch (time) {
            case "cron" -> Schedule.of(name, Cron.parse(text, zone), job);
            case "every" -> Schedule.of(name, FixedRate.every(Durations.parse(text)), job);
            default -> Schedule.withDelay(name, Durations.parse(text), job);
        };
    }

    private static Optional<Job> job(Section section) {
        Job.Builder builder =
                Job.of(section.text("kind").orElse(""), section.text("payload").orElse("{}"));
        section.text("queue").ifPresent(builder::queue);
        section.integer("priority", builder::priority);
        section.text("tenant").ifPresent(builder::tenantId);
        section.close();
        try {
            Job job = builder.build();
            Jobs.check(job);
            return Optional.of(job);
        } catch (PostroomException | IllegalArgumentException e) {
            section.problem(section.line(), section.path() + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private static Missed missed(String word) {
        return Arrays.stream(Missed.values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + word + "' is none of "
                        + Arrays.stream(Missed.values()).map(Missed::word).collect(Collectors.joining(", "))));
    }
}
