package io.postroom.doctor;

import io.postroom.doctor.Server.Setting;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;

/** The server itself: its version, and settings that decide whether what it acknowledged stays. */
final class ServerChecks {
    static final int VERSION_MIN = 15;
    /** When a major version gets no more fixes, as published by its makers. */
    private static final Map<Integer, LocalDate> SUPPORTED_UNTIL = Map.of(
            15, LocalDate.of(2027, 11, 11),
            16, LocalDate.of(2028, 11, 9),
            17, LocalDate.of(2029, 11, 8),
            18, LocalDate.of(2030, 11, 14));

    private static final long MEGABYTE = 1024L * 1024;
    /** What is advised for high throughput. */
    private static final long MAX_WAL_SIZE_MIN = 2048 * MEGABYTE;

    private static final long WAL_BUFFERS_MIN = 64 * MEGABYTE;
    private static final long MAINTENANCE_WORK_MEM_MIN = 512 * MEGABYTE;

    private final Server.Settings table;
    private final Server server;
    private final Notes notes;

    ServerChecks(Server.Settings table, Server server, Notes notes) {
        this.table = table;
        this.server = server;
        this.notes = notes;
    }

    void look(Connection tx) {
        version();
        if (!server.encoding().equals("UTF8")) {
            notes.add(Finding.error(
                    Check.ENCODING,
                    "database " + server.database() + " has encoding " + server.encoding() + ", UTF8 is needed",
                    "create a database with encoding UTF8 and move there; an encoding cannot be changed",
                    Fix.NONE));
        }
        Map<String, Setting> settings = table.read(
                tx,
                "fsync",
                "full_page_writes",
                "synchronous_commit",
                "synchronous_standby_names",
                "max_wal_size",
                "wal_buffers",
                "maintenance_work_mem");
        durability(settings);
        throughput(settings);
        overrides(tx);
    }

    private void version() {
        int major = server.version() / 10_000;
        LocalDate until = SUPPORTED_UNTIL.get(major);
        if (major < VERSION_MIN) {
            notes.add(Finding.error(
                    Check.SERVER_VERSION,
                    "the server is PostgreSQL " + server.versionShown() + ", the least is " + VERSION_MIN,
                    "upgrade the server",
                    Fix.NONE));
        } else if (until != null
                && server.now().atZone(ZoneOffset.UTC).toLocalDate().isAfter(until)) {
            notes.add(Finding.warning(
                    Check.SERVER_VERSION,
                    "PostgreSQL " + major + " gets no fixes since " + until,
                    "upgrade the server",
                    Fix.NONE));
        }
        if (server.isStandby()) {
            notes.add(Finding.error(
                    Check.WRITABLE,
                    "the server is a standby: it takes no writes, and what it shows may be late",
                    "connect to the primary; never read positions from a standby",
                    Fix.NONE));
        }
    }

    private void durability(Map<String, Setting> settings) {
        off(
                settings,
                "fsync",
                Check.FSYNC,
                "a crash of the machine can damage the database and lose what was committed");
        off(
                settings,
                "full_page_writes",
                Check.FULL_PAGE_WRITES,
                "a crash in the middle of a page's write can damage it for good");
        Setting commit = settings.get("synchronous_commit");
        if (commit != null && !commit.isLocal()) {
            String standbys = settings.containsKey("synchronous_standby_names")
                    ? settings.get("synchronous_standby_names").value()
                    : "";
            if (commit.isOff()) {
                notes.add(Finding.error(
                        Check.SYNCHRONOUS_COMMIT,
                        "synchronous_commit is off, the limit is local: a crash can lose the last commits that were acknowledged, and"
                                + " their messages",
                        commit.advice("set it to on"),
                        commit.set("on")));
            } else if (commit.value().equals("local") && !standbys.isBlank()) {
                notes.add(Finding.warning(
                        Check.SYNCHRONOUS_COMMIT,
                        "synchronous_commit is local though synchronous_standby_names is set: a failover can lose acknowledged commits",
                        commit.advice("set it to on"),
                        commit.set("on")));
            }
        }
    }

    private void off(Map<String, Setting> settings, String name, Check check, String harm) {
        Setting setting = settings.get(name);
        if (setting != null && setting.isOff()) {
            notes.add(Finding.error(
                    check,
                    name + " is off, it must be on: " + harm,
                    setting.advice("switch it on; what was damaged before stays so"),
                    setting.set("on")));
        }
    }

    private void throughput(Map<String, Setting> settings) {
        small(
                settings,
                "max_wal_size",
                MAX_WAL_SIZE_MIN,
                "2GB",
                "16GB",
                Check.MAX_WAL_SIZE,
                "checkpoints come often",
                false);
        small(
                settings,
                "wal_buffers",
                WAL_BUFFERS_MIN,
                "64MB",
                "64MB",
                Check.WAL_BUFFERS,
                "writers of many messages wait for WAL to be written",
                true);
        small(
                settings,
                "maintenance_work_mem",
                MAINTENANCE_WORK_MEM_MIN,
                "512MB",
                "1GB",
                Check.MAINTENANCE_WORK_MEM,
                "vacuum passes over indexes more than once",
                false);
    }

    private void small(
            Map<String, Setting> settings,
            String name,
            long least,
            String leastShown,
            String mostShown,
            Check check,
            String harm,
            boolean needsRestart) {
        Setting setting = settings.get(name);
        if (setting == null || setting.bytes() >= least) {
            return;
        }
        String range = leastShown.equals(mostShown) ? leastShown : leastShown + " to " + mostShown;
        notes.add(Finding.note(
                check,
                name + " is " + Names.size(setting.bytes()) + ", for many messages a second " + range + " is advised: "
                        + harm + (setting.isPendingRestart() ? "; another value waits for a restart" : ""),
                setting.advice("raise it if this server has the memory and the disk for it"),
                needsRestart ? setting.setAtRestart(leastShown) : setting.setIfThereIsRoom(leastShown)));
    }

    private void overrides(Connection tx) {
        List<Server.Override> overrides = table.overrides(
                tx, "synchronous_commit", "default_transaction_read_only", "default_transaction_isolation");
        for (Server.Override override : overrides) {
            Fix reset = Fix.of(Fix.Risk.TAKES, override.reset());
            switch (override.name()) {
                case "synchronous_commit" -> {
                    if (override.value().equals("off")) {
                        notes.add(Finding.error(
                                Check.SYNCHRONOUS_COMMIT_OVERRIDE,
                                "synchronous_commit is off for " + override.whose()
                                        + ", the limit is local: a crash can lose commits that were acknowledged, and their messages",
                                "take it back, or let work that may be lost use another role",
                                reset));
                    }
                }
                case "default_transaction_read_only" -> {
                    if (List.of("on", "true", "1", "yes").contains(override.value())) {
                        notes.add(Finding.error(
                                Check.WRITABLE,
                                "default_transaction_read_only is on for " + override.whose()
                                        + ": its sessions can write nothing",
                                "take it back unless this login only looks",
                                reset));
                    }
                }
                default -> {
                    if (!override.value().equals("read committed")) {
                        notes.add(Finding.warning(
                                Check.ISOLATION,
                                "default_transaction_isolation is " + override.value() + " for " + override.whose()
                                        + ", Postroom is made for read committed: others' work makes its transactions fail",
                                "take it back for the logins of relays; applications may set it in a transaction of theirs",
                                reset));
                    }
                }
            }
        }
    }
}
