package io.postroom.benchmark;

import io.postroom.Postroom;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.util.Locale;

/** Runs the scenarios and writes the report. */
public final class Bench {
    private Bench() {}

    public static void main(String[] args) throws Exception {
        try (EmbeddedPostgres server = BenchDatabase.server()) {
            for (int round = 0; round < 3; round++) {
                try (BenchDatabase database = BenchDatabase.create(server)) {
                    Postroom postroom = database.migrated();
                    database.execute(Sample.backlog(300_000), "vacuum analyze postroom.outbox", "checkpoint");
                    double raw = Drain.rawRead(database, 300_000, 1000);
                    double ours = Drain.relay(postroom, "drain", 300_000, 2);
                    SeedPattern seed = new SeedPattern(database, 300_000);
                    double matched = seed.drain(1000, true, 150_000);
                    double written = seed.drain(1000, false, 50_000);
                    System.out.printf(
                            Locale.ROOT,
                            "raw %.0f ours %.0f seed matched %.0f written %.0f%n",
                            raw,
                            ours,
                            matched,
                            written);
                }
            }
        }
    }
}
