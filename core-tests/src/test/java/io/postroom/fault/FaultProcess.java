package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;

/** A {@link FaultMain} as a test sees it. */
final class FaultProcess implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(180);

    private final ChildJvm child;
    private final FaultSettings settings;

    private FaultProcess(ChildJvm child, FaultSettings settings) {
        this.child = child;
        this.settings = settings;
    }

    /** Starts a process, which then waits for {@link #go}. */
    static FaultProcess start(FaultSettings settings, String... flags) {
        List<String> all = new java.util.ArrayList<>(List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=info"));
        all.addAll(flags.length == 0 ? List.of("-Xmx96m") : List.of(flags));
        return new FaultProcess(ChildJvm.start(FaultMain.class, all, settings.text()), settings);
    }

    ChildJvm child() {
        return child;
    }

    String name() {
        return settings.name();
    }

    /** Lets it begin to deliver. */
    FaultProcess go() throws InterruptedException {
        child.awaitLine("ready", PATIENCE);
        child.say("go");
        return this;
    }

    /** Waits until it has begun. */
    FaultProcess running() throws InterruptedException {
        child.awaitLine("started ", PATIENCE);
        return this;
    }

    /** It was killed, and at its step. */
    void assertDiedAtItsStep() throws InterruptedException {
        assertThat(child.awaitExit(PATIENCE)).as(child::toString).isEqualTo(CrashPoint.EXIT_CODE);
        child.awaitLine(CrashPoint.lineOf(settings.step()), PATIENCE);
    }

    void stop() throws InterruptedException {
        child.say("stop");
        child.awaitLine("stopped", PATIENCE);
        child.awaitExit(PATIENCE);
    }

    /** Lets the leases of processes that are known to be dead run out at once, instead of waiting for it. */
    static void expireLeases(TestDatabase database) {
        database.execute(
                "update postroom.relay set leased_until = clock_timestamp() - interval '1 second'",
                "update postroom.lane set leased_until = clock_timestamp() - interval '1 second' where owner is not null");
    }

    @Override
    public void close() {
        child.close();
    }
}
