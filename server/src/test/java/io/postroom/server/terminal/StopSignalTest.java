package io.postroom.server.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StopSignalTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final int OWN_CODE = 7;
    /** What a JVM says of itself when SIGTERM ended it. */
    private static final int TERMINATED = 128 + 15;

    /** A command that has more to close after its stop signal, and closes it when it is told to. */
    static final class Command {
        public static void main(String[] arguments) throws Exception {
            try (StopSignal stop = StopSignal.listen(Duration.parse(arguments[0]))) {
                System.out.println("listening");
                stop.await(DEADLINE);
            }
            System.out.println("closing");
            if (System.in.read() >= 0) {
                System.out.println("closed");
            }
            StopSignal.commandEnded(OWN_CODE);
            System.exit(OWN_CODE);
        }
    }

    @Test
    void waitsForEverythingToBeClosedAndEndsWithTheCommandsOwnCode() throws Exception {
        try (ChildJvm command = ChildJvm.start(Command.class, List.of(), "PT30S")) {
            command.awaitLine("listening", DEADLINE);
            terminate(command);
            command.awaitLine("closing", DEADLINE);
            command.say("go on");
            command.awaitLine("closed", DEADLINE);
            assertThat(command.awaitExit(DEADLINE)).isEqualTo(OWN_CODE);
        }
    }

    @Test
    void waitsNoLongerThanItsPatience() throws Exception {
        try (ChildJvm command = ChildJvm.start(Command.class, List.of(), "PT0.2S")) {
            command.awaitLine("listening", DEADLINE);
            terminate(command);
            assertThat(command.awaitExit(DEADLINE)).isEqualTo(TERMINATED);
            assertThat(command.lines()).doesNotContain("closed");
        }
    }

    private static void terminate(ChildJvm command) {
        ProcessHandle.of(command.pid()).orElseThrow().destroy();
    }
}
