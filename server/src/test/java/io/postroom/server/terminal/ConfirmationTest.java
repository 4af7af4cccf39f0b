package io.postroom.server.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfirmationTest {
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Terminal terminal = new Terminal(
            new ByteArrayOutputStream(), new PrintStream(err, true, StandardCharsets.UTF_8), Map.of(), true);

    @Test
    void takesTheTypedWordForAYesAndNothingElse() {
        new Confirmation(terminal, () -> " 17 ").require("redrive 17 dead letters", "17");
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("postroom: type 17 to redrive 17 dead letters: ");
        for (String answer : new String[] {"", "y", "yes", "18", null}) {
            assertThatThrownBy(() -> new Confirmation(terminal, () -> answer).require("redrive 17 dead letters", "17"))
                    .isInstanceOf(CommandException.class)
                    .hasMessage("nothing was done: " + (answer == null ? "nothing" : "'" + answer + "'")
                            + " was typed, not 17")
                    .extracting("exitCode")
                    .isEqualTo(1);
        }
    }

    @Test
    void asksNobodyWhereThereIsNobody() {
        assertThatThrownBy(() -> new Confirmation(terminal, null).require("remove subscription billing", "billing"))
                .hasMessage("could not remove subscription billing: there is no terminal to ask on; add --yes, or"
                        + " --dry-run to see what would be done")
                .extracting("exitCode")
                .isEqualTo(2);
        assertThat(err.size()).isZero();
    }
}
