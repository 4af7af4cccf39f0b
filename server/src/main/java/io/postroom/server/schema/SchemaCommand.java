package io.postroom.server.schema;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Grants;
import io.postroom.postgres.MigrationState;
import io.postroom.postgres.Migrations;
import io.postroom.postgres.Schema;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The schema's commands: thin words around {@link Migrations} and {@link Grants}. */
@Command(
        name = "schema",
        description = "Bring Postroom's schema up to date, or look at it.",
        synopsisSubcommandLabel = "COMMAND")
public final class SchemaCommand {
    private final Terminal terminal;
    private final GlobalOptions options;

    public SchemaCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "migrate",
            description = {
                "Apply what is missing, forward only. Safe to run at any time and by several at once.",
                "Prints what was applied."
            },
            footer = {
                "%nExamples:",
                "  postroom schema migrate --url postgres://owner@localhost/shop",
                "  POSTROOM_URL=postgres://owner@localhost/shop postroom schema migrate --schema messaging"
            })
    int migrate(@Mixin OutputOption output) {
        Migrations migrations = migrations(Connections.ENDLESS);
        List<MigrationState> applied = migrations.migrate();
        listing(applied).print(terminal, output.format());
        terminal.say(
                applied.isEmpty()
                        ? "nothing to do: schema " + schema().name() + " has version " + Migrations.latest()
                        : "schema " + schema().name() + " has version " + Migrations.latest() + " now");
        return ExitCode.OK;
    }

    @Command(
            name = "status",
            description = "Show every migration that is shipped or applied.",
            footer = {"%nExample:", "  postroom schema status -o jsonl --url postgres://localhost/shop"})
    int status(@Mixin OutputOption output) {
        listing(migrations(Connections.SHORT).status()).print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "validate",
            description = "Check that the schema is what this program needs; exit with 4 if it is not.",
            footer = {"%nExample:", "  postroom schema validate || postroom schema migrate"})
    int validate() {
        Migrations migrations = migrations(Connections.SHORT);
        try {
            migrations.validate();
        } catch (DatabaseException e) {
            throw e;
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.CHECK_FAILED, e.getMessage(), e);
        }
        terminal.say("schema " + schema().name() + " fits, with version " + Migrations.latest());
        return ExitCode.OK;
    }

    @Command(
            name = "print",
            description = "Print the SQL of migrations, for another tool or for reading. Needs no database.",
            footer = {"%nExample:", "  postroom schema print --from 3 --to 4 | psql -v ON_ERROR_STOP=1 shop"})
    int print(
            @Option(names = "--from", paramLabel = "VERSION", description = "The first migration; 1 unless given.")
                    @Nullable
                    Integer from,
            @Option(
                            names = "--to",
                            paramLabel = "VERSION",
                            description = "The last migration; the newest unless given.")
                    @Nullable
                    Integer to) {
        Migrations migrations = postroom(new PGSimpleDataSource()).migrations();
        try {
            terminal.print(migrations.print(from == null ? 1 : from, to == null ? Migrations.latest() : to));
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
        return ExitCode.OK;
    }

    @Command(
            name = "grants",
            description = {
                "Print the SQL that makes six roles with just the rights they need. Needs no database.",
                "Read it, then run it as a superuser, again after each migration."
            },
            footer = {"%nExample:", "  postroom schema grants --writer shop --relay shop_relay | psql shop"})
    int grants(
            @Option(names = "--owner", paramLabel = "ROLE", description = "Owns the schema; logs in nowhere.") @Nullable
                    String owner,
            @Option(names = "--writer", paramLabel = "ROLE", description = "The application: publishes.") @Nullable
                    String writer,
            @Option(names = "--relay", paramLabel = "ROLE", description = "Delivers.") @Nullable String relay,
            @Option(names = "--reader", paramLabel = "ROLE", description = "Looks at everything.") @Nullable
                    String reader,
            @Option(names = "--operator", paramLabel = "ROLE", description = "A reader who may change subscriptions.")
                    @Nullable
                    String operator,
            @Option(
                            names = "--consumer",
                            paramLabel = "ROLE",
                            description = "Reads messages and accepts them in the inbox.")
                    @Nullable
                    String consumer) {
        Grants usual = Grants.of(schema());
        try {
            Grants grants = new Grants(
                    orElse(owner, usual.owner()),
                    orElse(writer, usual.writer()),
                    orElse(relay, usual.relay()),
                    orElse(reader, usual.reader()),
                    orElse(operator, usual.operator()),
                    orElse(consumer, usual.consumer()));
            terminal.print(grants.print(schema()));
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
        return ExitCode.OK;
    }

    private static Listing listing(List<MigrationState> states) {
        Listing listing = new Listing("version", "name", "state", "appliedAt", "appliedBy");
        states.forEach(state -> listing.row(
                state.version(),
                state.name(),
                state.state().name().toLowerCase(Locale.ROOT),
                state.appliedAt(),
                state.appliedBy()));
        return listing;
    }

    private Migrations migrations(Duration silence) {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        return postroom(Connections.single(url, silence)).migrations();
    }

    private Postroom postroom(DataSource source) {
        return Postroom.builder(source).schema(schema().name()).build();
    }

    private Schema schema() {
        return SchemaChoice.of(options.schema(), terminal.environment());
    }

    private static String orElse(@Nullable String given, String usual) {
        return given == null ? usual : given;
    }
}
