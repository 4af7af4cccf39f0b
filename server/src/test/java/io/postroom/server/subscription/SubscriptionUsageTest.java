package io.postroom.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.CommandRun;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Command lines that cannot be read, or mean nothing that is there: nothing is changed by them. */
class SubscriptionUsageTest {
    private static TestDatabase database;

    /** Twenty messages, and billing has delivered them. */
    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.postroom()
                .database()
                .transact(tx -> database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("any", 20)));
        try (Relay relay = database.postroom()
                .relay()
                .handle(Subscription.named("billing").lanes(2).build(), envelope -> {})
                .build()) {
            relay.runOnce();
        }
        database.execute("update postroom.lane set position = 10");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "subscription                                        | a command is missing",
                "subscription puase                                  | did you mean pause?",
                "subscription show                                   | NAME is missing; give NAME: the subscription",
                "subscription pause billing                          | --reason is missing",
                "subscription resume billing                         | --reason is missing",
                "subscription lanes billing 3                        | --reason is missing",
                "subscription lanes billing x                        | could not read N: 'x' is not a whole number; give N: how many, 1 to 256",
                "subscription lanes billing 0 --reason r             | 0 were asked for, the range is 1 to 256",
                "subscription lanes billing 257 --reason r           | 257 were asked for, the range is 1 to 256",
                "subscription pause billing --reason r --actor=      | --actor is empty; give --actor NAME: who; kept in the audit",
                "subscription skip billing --reason r                | one of --to, --message and --position",
                "subscription skip billing --to now --position 3     | one of --to, --message and --position",
                "subscription skip billing --to now                  | --reason is missing",
                "subscription skip billing --to 0 --dry-run          | position is 0, the least is 1",
                "subscription skip billing --to soon --dry-run       | 'soon' is not a time; write",
                "subscription skip billing --to 22 --dry-run         | position 22 is beyond the journal's end, which is 20",
                "subscription skip billing --to 2999-01-01T00:00:00Z --dry-run | is in the future",
                "subscription skip billing --to now --reason r       | there is no terminal to ask on; add --yes",
                "subscription skip billing --message x --reason r    | 'x' is not the id of a message",
                "subscription skip billing --position 1 --dry-run    | --dry-run is for --to",
                "subscription replay billing --reason r              | --from is missing; give --from POINT: the first one",
                "subscription replay billing --from 1                | --reason is missing",
                "subscription replay billing --from 1 --reason r     | there is no terminal to ask on; add --yes",
                "subscription replay billing --from 9 --to 3 --dry-run | from position 9 to position 3 there is nothing",
                "subscription replay billing --from 1 --rate 5 --dry-run | '5' is not a rate; write a number and a unit",
                "subscription replay billing --from 1 --rate 0/s --dry-run | rate is 0.0 messages a second",
                "subscription replay billing --from 1 --as X --dry-run | name is 'X', it must be 1 to 100 lower-case letters",
                "subscription skip billing --position 1 --wait 3s --reason r | --wait is for --to",
                "subscription replay billing --from 1 --as x --wait 3s --reason r | --wait is for a replay without --as",
                "subscription lanes billing --wait 3s                | --wait is for a change of lanes",
                "subscription lanes billing --reason r               | --reason or --actor is for a change of lanes",
                "subscription deliveries billing --state parkd       | the state is parkd, it is one of waiting, sending, parked",
                "subscription release billing                        | ID is missing; give ID: the number of the dead letter",
                "subscription release billing x --reason r           | could not read ID: 'x' is not a whole number; give ID: the number of the dead letter",
                "subscription remove billing                         | --reason is missing",
                "subscription remove billing --reason r              | there is no terminal to ask on; add --yes",
                "subscription held billing --limit 0                 | --limit is 0, the range is 1 to 1000"
            })
    void refusesWhatItCannotRead(String arguments, String sentence) {
        CommandRun run = CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments.split(" "));
        assertThat(run.err()).contains(sentence).doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(database.queryLong("select count(*) from postroom.audit")).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "show biling",
                "lanes biling",
                "held biling",
                "pause biling --reason r",
                "resume biling --reason r",
                "lanes biling 3 --reason r",
                "skip biling --to now --dry-run",
                "skip biling --position 3 --reason r",
                "replay biling --from beginning --dry-run",
                "release biling 3 --reason r",
                "move biling --cancel --reason r",
                "remove biling --dry-run"
            })
    void guessesWhichSubscriptionWasMeant(String arguments) {
        CommandRun run = run(arguments.split(" "));
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).contains("there is no such subscription; did you mean billing?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"list", "show", "held", "pause", "resume", "lanes", "skip", "replay", "release", "remove"})
    void explainsEveryCommandWithAnExample(String verb) {
        CommandRun run = run(verb, "--help");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("Usage: postroom subscription " + verb).contains("Example");
    }

    private static CommandRun run(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "subscription";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), all);
    }
}
