package io.postroom.server.postgres;

import io.postroom.Postroom;
import io.postroom.postgres.MigrationState;
import io.postroom.server.terminal.Terminal;
import java.util.List;

/** Sees that a command's database has the schema it needs. */
public final class SchemaCheck {
    private SchemaCheck() {}

    /** Throws unless every migration of this program is there. A newer schema is used: old nodes survive it. */
    public static void require(Postroom postroom, Terminal terminal) {
        List<MigrationState> states = postroom.migrations().status();
        if (states.stream().anyMatch(state -> state.state() == MigrationState.Word.PENDING)) {
            postroom.migrations().validate();
        }
        states.stream()
                .filter(state -> state.state() == MigrationState.Word.NEWER)
                .reduce((first, last) -> last)
                .ifPresent(newer ->
                        terminal.say("schema " + postroom.database().schema().name() + " has version " + newer.version()
                                + ", newer than this program; upgrade it soon"));
    }
}
