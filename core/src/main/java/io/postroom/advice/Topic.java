package io.postroom.advice;

/** What there is advice about. The ids never change; each has its section in docs/operating/advise.md. */
public enum Topic {
    CAPACITY("PR-A001", "how near the ceiling is"),
    BROKER("PR-A002", "PostgreSQL or a broker"),
    PROPAGATION("PR-A003", "polling or change data capture"),
    LANES("PR-A004", "lanes"),
    PARTITIONS("PR-A005", "partitions and retention"),
    WRITES("PR-A006", "WAL for each message");

    private final String id;
    private final String title;

    Topic(String id, String title) {
        this.id = id;
        this.title = title;
    }

    public String id() {
        return id;
    }

    public String title() {
        return title;
    }

    /** Where it is told what the advice rests on. */
    public String page() {
        return "docs/operating/advise.md#" + id.toLowerCase(java.util.Locale.ROOT);
    }
}
