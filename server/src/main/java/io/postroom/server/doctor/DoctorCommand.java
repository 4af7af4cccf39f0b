package io.postroom.server.doctor;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.doctor.Examination;
import io.postroom.doctor.Finding;
import io.postroom.doctor.Severity;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.RoleNames;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.relay.RelayFile;
import io.postroom.server.relay.SettingsText;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says whether a database is fit, and how to mend what is not. */
@Command(
        name = "doctor",
        description = {
            "Look whether the database is fit: settings, rights, upkeep, schema, and what stands in the way of messages.",
            "Changes nothing. Each finding has an id, what was seen, and the SQL that mends it; docs/operating/doctor.md tells more."
        },
        footer = {
            "%nExit codes: 0 nothing, notes or warnings; 4 an error, or with --strict a warning.",
            "What this login may not see is told with the grant that would show it, and changes no exit code.",
            "%nExamples:",
            "  postroom doctor --url postgres://localhost/shop",
            "  postroom doctor --strict -o json",
            "  postroom doctor --config postroom.yaml",
            "  postroom doctor --fix-sql > mend.sql"
        })
public final class DoctorCommand implements Callable<Integer> {
    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(
            names = "--fix-sql",
            description = "Print only a script that mends what SQL can mend, what disturbs least first.")
    private boolean fixSql;

    @Option(names = "--strict", description = "Exit with 4 for warnings too.")
    private boolean strict;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description =
                    "The settings of a relay: its database, whether its destinations can be reached from here, and whether pools fit.")
    private @Nullable Path config;

    @Mixin
    private RoleOptions roles = new RoleOptions();

    @Mixin
    private OutputOption output = new OutputOption();

    public DoctorCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    /** The names of roles, as they were given to {@code schema grants}. */
    static final class RoleOptions {
        @Option(
                names = "--owner",
                paramLabel = "ROLE",
                description = "As given to schema grants; so are the other roles.")
        private @Nullable String owner;

        @Option(names = "--writer", paramLabel = "ROLE", description = "The application.")
        private @Nullable String writer;

        @Option(names = "--relay", paramLabel = "ROLE", description = "Delivers.")
        private @Nullable String relay;

        @Option(names = "--reader", paramLabel = "ROLE", description = "Looks at everything.")
        private @Nullable String reader;

        @Option(names = "--operator", paramLabel = "ROLE", description = "A reader who may change subscriptions.")
        private @Nullable String operator;

        @Option(names = "--consumer", paramLabel = "ROLE", description = "Reads messages.")
        private @Nullable String consumer;

        /** Those of the file unless they are given. */
        Grants grants(Schema schema, RoleNames file) {
            Map<String, String> names = new HashMap<>(file.given());
            put(names, "owner", owner);
            put(names, "writer", writer);
            put(names, "relay", relay);
            put(names, "reader", reader);
            put(names, "operator", operator);
            put(names, "consumer", consumer);
            try {
                return new RoleNames(names).of(schema);
            } catch (PostroomException e) {
                throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
            }
        }

        private static void put(Map<String, String> names, String role, @Nullable String given) {
            if (given != null) {
                names.put(role, given);
            }
        }
    }

    @Override
    public Integer call() {
        if (config == null) {
            return report(examine(null, options.schema(), 0, RoleNames.USUAL));
        }
        try (RelayFile file = RelayFile.read(config.toString(), SettingsText.of(config), terminal, Set.of())) {
            Examination database = examine(
                    file.url(),
                    options.schema() == null ? file.schema() : options.schema(),
                    file.hasSubscriptions() ? file.connections() : 0,
                    file.console().databaseRoles());
            List<Finding> findings = new ArrayList<>(database.findings());
            findings.addAll(DestinationProbe.of(file.destinations()));
            return report(new Examination(findings, database.unchecked()));
        }
    }

    private Examination examine(@Nullable String fileUrl, @Nullable String schemaName, int pool, RoleNames fileRoles) {
        Schema schema = SchemaChoice.of(schemaName, terminal.environment());
        Grants names = roles.grants(schema, fileRoles);
        DatabaseUrl url = options.url() == null && fileUrl != null
                ? DatabaseUrl.parse("url in " + config, fileUrl, terminal.environment())
                : DatabaseUrl.find(options.url(), terminal.environment());
        return Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(schema.name())
                .build()
                .doctor()
                .examine(names, pool);
    }

    private int report(Examination examination) {
        if (fixSql) {
            terminal.print(examination.fixSql());
            terminal.say(DoctorText.summary(examination));
        } else {
            terminal.print(
                    switch (output.format()) {
                        case TABLE -> DoctorText.of(examination);
                        case JSON -> DoctorJson.of(examination);
                        case JSONL -> DoctorJson.lines(examination);
                    });
        }
        return exitCode(examination, strict);
    }

    static int exitCode(Examination examination, boolean strict) {
        boolean isFit = examination.count(Severity.ERROR) == 0 && !(strict && examination.count(Severity.WARNING) > 0);
        return isFit ? ExitCode.OK : ExitCode.CHECK_FAILED;
    }
}
