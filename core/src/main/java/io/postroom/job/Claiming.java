package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one thread claims with: a connection, and for each crew the front of its queue, which it shares with others. */
final class Claiming implements AutoCloseable {
    /** How many jobs one statement claims. */
    static final int CLAIM_MAX = 1_000;

    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);

    private final Line line;
    private final Held held;
    private final Telemetry telemetry;
    private final Map<Crew, Front> fronts = new LinkedHashMap<>();

    Claiming(Database database, Held held, Telemetry telemetry) {
        this.line = new Line(database, ANSWER_WITHIN);
        this.held = held;
        this.telemetry = telemetry;
    }

    /**
     * What was found.
     *
     * @param asked whether a crew wanted any
     * @param some whether there were any
     * @param full whether a crew got as many as it asked for: there may be more
     * @param left whether a crew wanted none: there may be some
     */
    record Taken(boolean asked, boolean some, boolean full, boolean left) {}

    void add(Crew crew, Front front) {
        fronts.put(crew, front);
    }

    Connection connection() {
        return line.connection();
    }

    /** Claims for each crew what it wants, and gives it to it. */
    Taken take() {
        boolean asked = false;
        boolean some = false;
        boolean full = false;
        boolean left = false;
        for (Map.Entry<Crew, Front> entry : fronts.entrySet()) {
            Crew crew = entry.getKey();
            int wanted = crew.reserve(CLAIM_MAX);
            if (wanted == 0) {
                left = true;
                continue;
            }
            asked = true;
            int claimed = claim(crew, entry.getValue(), wanted);
            some |= claimed > 0;
            full |= claimed == wanted;
        }
        return new Taken(asked, some, full, left);
    }

    /** After trouble too: the next use opens another connection. */
    @Override
    public void close() {
        line.close();
    }

    private int claim(Crew crew, Front front, int wanted) {
        List<ClaimedJob> jobs;
        try {
            jobs = front.claim(line.connection(), wanted);
            jobs.forEach(held::add);
        } catch (RuntimeException | Error e) {
            crew.release(wanted);
            throw e;
        }
        crew.give(jobs, wanted);
        if (!jobs.isEmpty()) {
            telemetry.claimed(crew.queue(), jobs.size());
            jobs.forEach(job -> telemetry.jobWaited(job.queue(), job.kind(), job.waited()));
        }
        return jobs.size();
    }
}
