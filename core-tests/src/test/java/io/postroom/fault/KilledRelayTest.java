package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Relays in processes of their own, killed with SIGKILL while traffic goes on. */
class KilledRelayTest {
    private static final int KEYS = 30;
    private static final int LANES = 6;
    private static final int KILLS = Boolean.getBoolean("postroom.long") ? 40 : 3;
    private static final Duration LEASE = Duration.ofMillis(1_500);
    private static final Duration PER_MESSAGE = Duration.ofMillis(1);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    @Test
    void losesNothingAndKeepsOrderWhenRelaysAreKilled() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        DeliveryFile file = DeliveryFile.in(directory);
        History history = new History();
        List<RelayProcess> relays = new ArrayList<>();
        try (TestDatabase database = TestDatabase.create();
                Writers writers = new Writers(
                        database.dataSource(),
                        database.postroom(),
                        history,
                        KEYS,
                        seed,
                        0.01,
                        Writers.Style.PLAIN,
                        Writers.Style.EARLY_XID,
                        Writers.Style.ROLLBACK,
                        Writers.Style.BATCH)) {
            Writers.createAccounts(database.dataSource(), KEYS);
            RelayProcess.Starting second = begin(database, "relay-1", file);
            relays.add(begin(database, "relay-0", file).running());
            relays.add(second.running());
            writers.start(4);

            long unsettled = 0;
            for (int kill = 0; kill < KILLS; kill++) {
                RelayProcess victim = relays.get(kill);
                long before = file.countOf(victim.name());
                Deadline.await(
                        "the victim has lanes and works",
                        PATIENCE,
                        () -> !victim.lanes(database).isEmpty() && file.countOf(victim.name()) > before + 20);
                victim.child().kill();
                unsettled += victim.unsettled(database);
                assertThat(victim.lanes(database))
                        .as("lanes at the moment of death")
                        .isNotEmpty();
                relays.add(begin(database, "relay-" + relays.size(), file).running());
            }

            writers.stop();
            int committed = history.acknowledgedCount();
            Deadline.await("all " + committed + " are delivered", PATIENCE, () -> file.distinct() >= committed);
            for (RelayProcess relay : relays.subList(KILLS, relays.size())) {
                relay.stop();
            }
            file.deliveries().forEach(history::delivered);

            String run = "seed " + seed + ", " + committed + " committed, " + unsettled + " unsettled at " + KILLS
                    + " kills, " + history.duplicates() + " duplicates";
            assertThat(history.violations(Truth.stored(database.dataSource())))
                    .as(run)
                    .isEmpty();
            assertThat(unsettled).as("%s: kills hit messages on their way", run).isPositive();
            assertThat(history.duplicates()).as(run).isLessThanOrEqualTo((int) unsettled);
            assertThat(relays.stream().flatMap(relay -> relay.child().lines().stream()))
                    .as("%s: lanes of the dead were taken over", run)
                    .anyMatch(line -> line.startsWith("telemetry: lane") && line.endsWith("taken over"))
                    .anyMatch(
                            line -> line.contains("of subscription all from position") && line.contains("taken over"));
        } finally {
            relays.forEach(RelayProcess::close);
        }
    }

    private static RelayProcess.Starting begin(TestDatabase database, String name, DeliveryFile file) {
        return RelayProcess.begin(database, name, file, LANES, LEASE, PER_MESSAGE);
    }
}
