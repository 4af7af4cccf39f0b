package io.postroom.doctor;

/** What a doctor looks at. The ids never change and are never used again; each has its section in docs/operating/doctor.md. */
public enum Check {
    SERVER_VERSION("PR-D001", "server version"),
    ENCODING("PR-D002", "encoding of the database"),
    WRITABLE("PR-D003", "a server that takes writes"),
    ISOLATION("PR-D004", "default isolation"),
    FSYNC("PR-D010", "fsync"),
    FULL_PAGE_WRITES("PR-D011", "full_page_writes"),
    SYNCHRONOUS_COMMIT("PR-D012", "synchronous_commit of the server"),
    SYNCHRONOUS_COMMIT_OVERRIDE("PR-D013", "synchronous_commit of a role or database"),
    MAX_WAL_SIZE("PR-D014", "max_wal_size"),
    WAL_BUFFERS("PR-D015", "wal_buffers"),
    MAINTENANCE_WORK_MEM("PR-D016", "maintenance_work_mem"),
    CONNECTIONS("PR-D017", "connections in use"),
    POOLS("PR-D018", "room for the pools of relays"),
    AUTOVACUUM("PR-D020", "autovacuum of the server"),
    AUTOVACUUM_TABLE("PR-D021", "autovacuum of a table"),
    AUTOVACUUM_LAZY("PR-D022", "how late autovacuum begins"),
    DEAD_ROWS("PR-D023", "dead rows"),
    WRAPAROUND("PR-D024", "age of transaction ids"),
    ROLES("PR-D030", "roles of least privilege"),
    PRIVILEGED_LOGIN("PR-D031", "logins above the rules"),
    GRANTS_MISSING("PR-D032", "rights that are missing"),
    GRANTS_EXCESS("PR-D033", "rights that are too many"),
    OWNER("PR-D034", "owner of the tables"),
    POLICIES_OFF("PR-D035", "row level security that is switched off"),
    POLICIES_BYPASSED("PR-D036", "row level security that an owner bypasses"),
    POLICIES_VIEW("PR-D037", "views that see past row level security"),
    PRIVILEGED_SESSION("PR-D038", "programs that log in above the rules"),
    PARTITIONS_AHEAD("PR-D040", "partitions made ahead"),
    DEFAULT_PARTITION("PR-D041", "rows in a default partition"),
    ARCHIVE_STUCK("PR-D042", "days that cannot be archived"),
    POOLER("PR-D050", "pooler of transactions"),
    CLOCK("PR-D051", "clocks"),
    SCHEMA_BEHIND("PR-D060", "schema version"),
    SCHEMA_AHEAD("PR-D061", "schema of a newer program"),
    SCHEMA_CHANGED("PR-D062", "migrations as shipped"),
    INVALID_INDEX("PR-D063", "invalid indexes"),
    SEQUENCES("PR-D064", "sequences near their end"),
    OLD_TRANSACTION("PR-D070", "old transactions"),
    IDLE_TRANSACTION("PR-D071", "transactions that stand still"),
    PREPARED_TRANSACTION("PR-D072", "prepared transactions"),
    REPLICATION_SLOT("PR-D073", "replication slots"),
    UNSERVED("PR-D080", "subscriptions that nobody serves"),
    CIRCUIT_OPEN("PR-D081", "destinations that take nothing"),
    SUSPECTS("PR-D082", "messages that were there when a relay died"),
    SINK_UNREACHABLE("PR-D083", "destinations that cannot be reached from here");

    private final String id;
    private final String title;

    Check(String id, String title) {
        this.id = id;
        this.title = title;
    }

    /** For programs and for the section in the docs: {@code PR-D010}. */
    public String id() {
        return id;
    }

    public String title() {
        return title;
    }

    /** Where it is told what a finding means and what to do. */
    public String page() {
        return "docs/operating/doctor.md#" + id.toLowerCase(java.util.Locale.ROOT);
    }
}
