package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class KilledRedriveTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final int LETTERS = 10_000;
    private static final int KILLS = 4;

    /** SIGKILL somewhere in a step, again and again, with a second process at it. Nothing is lost, nothing happens twice. */
    @Test
    void anyProcessCarriesOnWhatAKilledOneLeft() throws InterruptedException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Graveyard yard = new Graveyard().subscribe("billing", 4)) {
            yard.publishMany("o", LETTERS);
            yard.bury("billing", "true");
            UUID id = yard.redrives
                    .request(yard.redriveOf("billing").build())
                    .request()
                    .id();
            for (int kills = 0; kills < KILLS; kills++) {
                long before = yard.redrives.get(id).done();
                try (ChildJvm child =
                        ChildJvm.start(RedriveMain.class, List.of("-Xmx96m"), yard.database.url(), id.toString())) {
                    child.awaitLine(line -> !line.equals("done " + before), "progress", DEADLINE);
                    spin(random.nextInt(40));
                    child.kill();
                }
                assertConserved(yard, seed);
            }
            Redrive done = yard.redrives.run(id, now -> {});
            assertThat(done.state()).as("seed " + seed).isEqualTo(RedriveState.DONE);
            assertThat(done.done()).as("seed " + seed).isEqualTo(LETTERS);
            assertThat(done.skipped()).as("seed " + seed).isZero();
            assertConserved(yard, seed);
            assertThat(yard.count("audit", "true"))
                    .as("one at request, one at end")
                    .isEqualTo(2);
        }
    }

    private static void assertConserved(Graveyard yard, long seed) {
        assertThat(yard.one("""
                select count(*) from postroom.dead_letter as d
                full join postroom.delivery as v on v.dead_letter = d.id
                where (coalesce(d.resolution, '') = 'redriven') <> (v.dead_letter is not null)""")).as("seed " + seed).isZero();
        assertThat(yard.one("""
                select r.done - (select count(*) from postroom.dead_letter as d where d.redrive = r.id)
                from postroom.redrive as r""")).as("seed " + seed).isZero();
    }

    private static void spin(int millis) {
        long until = System.nanoTime() + millis * 1_000_000L;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }
}
