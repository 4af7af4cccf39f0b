package io.postroom.server.dev;

import io.postroom.Postroom;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The demo that another process runs in a folder. */
final class RunningDemo {
    /** Which line of PostgreSQL's own file has its port. */
    private static final int PORT_LINE = 3;

    private final Database database;
    private final FaultTable table = new FaultTable();

    private RunningDemo(Database database) {
        this.database = database;
    }

    static RunningDemo in(Path data) {
        Path file = data.resolve("postgres").resolve("postmaster.pid");
        try {
            List<String> lines = Files.readAllLines(file);
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl("jdbc:postgresql://localhost:"
                    + Integer.parseInt(lines.get(PORT_LINE).strip()) + "/postgres");
            source.setUser("postgres");
            return new RunningDemo(Postroom.on(source).database());
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            throw none(data, e);
        }
    }

    private static CommandException none(Path data, Exception e) {
        return new CommandException(
                ExitCode.FAILURE,
                "no demo runs in " + data + "; start it with postroom dev, or name its folder with --data",
                e);
    }

    static Fault fault(@Nullable String word) {
        String named = word == null ? "" : word;
        return Fault.of(named)
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "there is no " + Quoted.text(named, 50) + " to break or mend; there is "
                                + String.join(", ", Fault.words()) + Suggestion.didYouMean(named, Fault.words())));
    }

    /** Whether it was not broken before. */
    boolean broken(Path data, Fault fault) {
        try {
            return database.transact(tx -> table.put(tx, fault));
        } catch (DatabaseException e) {
            throw none(data, e);
        }
    }

    /** Whether it was broken. */
    boolean mended(Path data, Fault fault) {
        try {
            return database.transact(tx -> table.remove(tx, fault));
        } catch (DatabaseException e) {
            throw none(data, e);
        }
    }
}
