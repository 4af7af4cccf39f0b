package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterRow;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.fault.Conservation.Place;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operators who redrive, discard and cancel at random, against relays that deliver, die, freeze and rescue. */
class OperatorRaceTest {
    private static final int LANES = 3;
    private static final int OPERATORS = 4;
    private static final int ROUNDS = Boolean.getBoolean("postroom.long") ? 40 : 3;
    private static final Duration LEASE = Duration.ofMillis(900);
    private static final Duration PATIENCE = FaultProcess.PATIENCE;

    @TempDir
    Path directory;

    private final List<Throwable> broken = new CopyOnWriteArrayList<>();
    /** When each relay that was frozen was, in microseconds since 1970. */
    private final Map<String, Long> frozen = new HashMap<>();

    private final AtomicLong cancelled = new AtomicLong();
    private TestDatabase database;
    private Redrives redrives;
    private DeadLetters letters;
    private volatile boolean stopped;

    /** What an operator has done to a dead letter. */
    private record Letter(long id, long position, String resolution, long resolvedMicros) {}

    /** A delivery after the dead letter was resolved. */
    private record Late(String relay, long micros) {}

    @Test
    void everyEndIsFinalUnlessAnOperatorChangesIt() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        List<FaultProcess> relays = new ArrayList<>();
        List<Thread> operators = new ArrayList<>();
        Map<String, DeliveryFile> files = new HashMap<>();
        try (TestDatabase created = TestDatabase.create();
                Conservation.Watch goesOn = watch(created, FaultMain.GOES_ON);
                Conservation.Watch holds = watch(created, FaultMain.HOLDS)) {
            database = created;
            letters = database.postroom().deadLetters();
            redrives = letters.redrives();
            guardResolutions();
            for (String subscription : List.of(FaultMain.GOES_ON, FaultMain.HOLDS)) {
                files.put(subscription, DeliveryFile.at(directory.resolve(subscription)));
            }
            Traffic traffic = new Traffic(database);
            publish(traffic, 0);
            relays.add(start("relay-0"));
            relays.add(start("relay-1"));
            relays.get(0).go();
            relays.get(1).go();
            for (int i = 0; i < OPERATORS; i++) {
                Random random = new Random(seed + i);
                Thread thread = new Thread(() -> operate(random), "operator-" + i);
                thread.setDaemon(true);
                thread.start();
                operators.add(thread);
            }
            for (int round = 1; round <= ROUNDS; round++) {
                FaultProcess zombie = relays.get(relays.size() - 1).running();
                relays.add(start("relay-" + relays.size()));
                publish(traffic, round);
                awaitLanesAndDeath(zombie);
                frozen.put(zombie.name(), ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
                zombie.child().freeze();
                Deadline.await(
                        () -> "the others have its lanes: " + zombie.child(), PATIENCE, () -> lanesOf(zombie) == 0);
                publish(traffic, round);
                zombie.child().thaw();
                zombie.child().awaitLine("another relay took the lane", PATIENCE);
                publish(traffic, round);
                zombie.child().kill();
                relays.get(relays.size() - 1).go();
            }
            stopped = true;
            for (Thread operator : operators) {
                operator.join(PATIENCE.toMillis());
            }
            awaitTheEnd(traffic);
            for (FaultProcess relay : relays) {
                if (relay.child().isAlive()) {
                    relay.stop();
                }
            }
            goesOn.stop();
            holds.stop();
            String run = "seed " + seed + ", " + traffic.count() + " messages, " + resolutions() + ", " + cancelled
                    + " cancelled, " + goesOn.looks() + " looks";
            assertThat(broken).as(run).isEmpty();
            check(run, goesOn, files.get(FaultMain.GOES_ON));
            check(run, holds, files.get(FaultMain.HOLDS));
            assertThat(database.queryLong("select count(*) from resolved_again"))
                    .as("%s: resolutions that were changed", run)
                    .isZero();
            assertThat(database.queryLong("select count(*) from postroom.redrive r where done <>"
                            + " (select count(*) from postroom.dead_letter d where d.redrive = r.id)"))
                    .as("%s: redrives that count what they did not do", run)
                    .isZero();
            assertThat(cancelled.get())
                    .as("%s: redrives that were cancelled", run)
                    .isPositive();
        } finally {
            stopped = true;
            relays.forEach(FaultProcess::close);
        }
    }

    /** What is resolved must never change; the schema does not forbid it to whoever writes SQL, so the test looks. */
    private void guardResolutions() {
        database.execute(
                "create table resolved_again (id bigint)",
                "create function note_resolved_again() returns trigger language plpgsql as"
                        + " $$ begin insert into resolved_again values (old.id); return null; end $$",
                "create trigger resolved_again after update on postroom.dead_letter for each row"
                        + " when (old.resolution is not null) execute function note_resolved_again()");
    }

    private FaultProcess start(String name) {
        return FaultProcess.start(FaultSettings.on(database, directory)
                .with("name", name)
                .with("lanes", LANES)
                .with("lease", LEASE)
                .with("retry", "linear step=10ms cap=10ms jitter=0 attempts=20")
                .with("work", Duration.ofMillis(2)));
    }

    private static void publish(Traffic traffic, int round) throws SQLException {
        Traffic.Batch batch = traffic.batch();
        for (int key = 0; key < 20; key++) {
            batch.add("flaky-" + key + "-" + round, Kind.FLAKY, Kind.GOOD, Kind.FLAKY, Kind.ONCE);
        }
        batch.publish();
    }

    /** It is in the middle of its work, and there is something for operators to do. */
    private void awaitLanesAndDeath(FaultProcess process) {
        Deadline.await(
                () -> "it has lanes, and there are dead letters: " + process.child(),
                PATIENCE,
                () -> lanesOf(process) > 0
                        && database.queryLong("select count(*) from postroom.dead_letter where resolution is null")
                                > 0);
    }

    private long lanesOf(FaultProcess process) {
        return database.queryLong("select count(*) from postroom.lane l join postroom.relay r on r.id = l.owner"
                + " where r.name = '" + process.name() + "'");
    }

    /** Ends when stopped. */
    private void operate(Random random) {
        while (!stopped) {
            try {
                act(random);
            } catch (PostroomException e) {
                if (!e.code().equals("redrive.ended")) {
                    broken.add(e);
                }
            } catch (RuntimeException e) {
                broken.add(e);
            }
            LockSupport.parkNanos(random.nextInt(10_000_000));
        }
    }

    private void act(Random random) {
        switch (random.nextInt(5)) {
            case 0 -> redrives.request(some(random, true));
            case 1 -> redrives.request(some(random, false));
            case 2 ->
                redrives.list(20).stream()
                        .filter(redrive -> !redrive.isEnded())
                        .findFirst()
                        .ifPresent(this::cancel);
            default -> redrives.stepAll();
        }
    }

    private void cancel(Redrive redrive) {
        redrives.cancel(redrive.request().id(), "operator", "changed my mind");
        cancelled.incrementAndGet();
    }

    /** A subscription's dead letters, or a few of them, at once or slowly. */
    private RedriveRequest some(Random random, boolean redrive) {
        String owner = random.nextBoolean() ? FaultMain.GOES_ON : FaultMain.HOLDS;
        List<Long> ids = letters.list(DeadLetterFilter.ofOwner(owner), null, 5).stream()
                .map(DeadLetterRow::id)
                .toList();
        DeadLetterFilter filter = ids.isEmpty() || random.nextInt(4) == 0
                ? DeadLetterFilter.ofOwner(owner)
                : DeadLetterFilter.ofIds(ids.toArray(Long[]::new));
        RedriveRequest.Builder request = redrive ? RedriveRequest.redrive(filter) : RedriveRequest.discard(filter);
        return request.id(new UUID(random.nextLong(), random.nextLong()))
                .rate(random.nextBoolean() ? 5.0 + random.nextInt(50) : null)
                .actor("operator")
                .reason("a race")
                .build();
    }

    /** What operators have begun is carried on, and everything comes to an end of some kind. */
    private void awaitTheEnd(Traffic traffic) {
        Deadline.await(
                () -> "all is at an end: " + database.queryLong("select count(*) from postroom.delivery")
                        + " deliveries",
                PATIENCE,
                () -> {
                    redrives.stepAll();
                    return database.queryLong("select count(*) from postroom.redrive where ended_at is null") == 0
                            && database.queryLong("select count(*) from postroom.journal") == traffic.count()
                            && database.queryLong(
                                            "select count(*) from postroom.lane where position < " + traffic.count())
                                    == 0
                            && database.queryLong("select count(*) from postroom.delivery as d where state <> 'held'"
                                            + " and (state <> 'parked' or not exists (select from postroom.delivery as h where"
                                            + " h.subscription = d.subscription and h.key_hash = d.key_hash and h.state = 'held'"
                                            + " and h.position < d.position))")
                                    == 0;
                });
    }

    private void check(String run, Conservation.Watch watch, DeliveryFile file) throws Exception {
        assertThat(watch.wrong()).as(run).isEmpty();
        assertThat(watch.seen()).as("%s: places that the watch has seen", run).containsAll(EnumSet.allOf(Place.class));
        Map<Long, List<Letter>> byPosition = new HashMap<>();
        for (Letter letter : letters(file.path().getFileName().toString())) {
            byPosition
                    .computeIfAbsent(letter.position(), ignored -> new ArrayList<>())
                    .add(letter);
        }
        List<String> wrong = new ArrayList<>();
        int tooLate = 0;
        for (List<Letter> one : byPosition.values()) {
            Letter last = one.get(one.size() - 1);
            if (one.stream()
                    .limit(one.size() - 1L)
                    .anyMatch(each -> !each.resolution().equals("redriven"))) {
                wrong.add("buried again without a redrive: " + one);
            }
            List<Late> after = deliveredAfter(file, last);
            if (last.resolution().equals("redriven") && after.isEmpty()) {
                wrong.add("redriven and not delivered: " + one);
            }
            if (last.resolution().equals("discarded")) {
                tooLate += after.size();
                if (!after.stream().allMatch(this::isOfAZombie)) {
                    wrong.add("discarded and delivered later by " + after + ": " + one);
                }
            }
        }
        assertThat(wrong).as(run).isEmpty();
        assertThat(tooLate)
                .as("%s: discarded and delivered later: only what a zombie had in hand, one for each lane", run)
                .isLessThanOrEqualTo(ROUNDS * LANES);
    }

    /** It was frozen with the message in hand, and did not know better when it went on. */
    private boolean isOfAZombie(Late late) {
        Long since = frozen.get(late.relay());
        return since != null && late.micros() >= since;
    }

    private static List<Late> deliveredAfter(DeliveryFile file, Letter letter) throws IOException {
        List<Late> after = new ArrayList<>();
        List<History.Delivery> deliveries = file.deliveries();
        List<Long> times = file.times();
        for (int i = 0; i < deliveries.size(); i++) {
            if (deliveries.get(i).position() == letter.position() && times.get(i) >= letter.resolvedMicros()) {
                after.add(new Late(deliveries.get(i).relay(), times.get(i)));
            }
        }
        return after;
    }

    private List<Letter> letters(String owner) throws SQLException {
        List<Letter> found = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select id, position, coalesce(resolution, 'open'),"
                        + " (extract(epoch from resolved_at) * 1000000)::bigint from postroom.dead_letter where owner = '"
                        + owner + "' order by id")) {
            while (row.next()) {
                found.add(new Letter(row.getLong(1), row.getLong(2), row.getString(3), row.getLong(4)));
            }
        }
        return found;
    }

    private String resolutions() throws SQLException {
        List<Letter> all = new ArrayList<>(letters(FaultMain.GOES_ON));
        all.addAll(letters(FaultMain.HOLDS));
        return all.stream()
                .collect(Collectors.groupingBy(Letter::resolution, Collectors.counting()))
                .toString();
    }

    private Conservation.Watch watch(TestDatabase created, String subscription) {
        return new Conservation.Watch(created, subscription, directory.resolve(subscription), true);
    }
}
