package io.postroom.benchmark;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What somebody asks of each page and each call that reads: near the newest and far down, with filters that fit much, little and nothing. */
final class Questions {
    static final String API = "/api/v1";

    private static final String NEVER = "99999999";

    private final BenchDatabase database;
    private final Map<String, List<String>> byPath = new HashMap<>();

    private Questions(BenchDatabase database) {
        this.database = database;
    }

    static Questions of(BenchDatabase database, long messages) {
        Questions questions = new Questions(database);
        questions.messages(messages);
        questions.letters();
        questions.jobs();
        questions.rest();
        return questions;
    }

    /** The addresses to ask for a path such as {@code /messages/{id}}; throws for one of which nobody has said what its names may be. */
    List<String> of(String path) {
        List<String> known = byPath.get(path);
        if (known != null) {
            return known;
        }
        if (path.contains("{")) {
            throw new IllegalStateException(
                    "nobody has said what to ask for " + path + "; add it to Questions, or its time is not known");
        }
        return List.of(path);
    }

    private void messages(long messages) {
        List<String> filters = new ArrayList<>(List.of(
                "",
                "?type=OrderPlaced",
                "?type=Nothing",
                "?tenant=t-3&type=ParcelLost",
                "?key=o-77",
                "?find=o-1234",
                "?data=customer.id%3D77",
                "?data=customer.id%3Dnothing"));
        for (int part = 1; part < 8; part++) {
            long before = messages * part / 8;
            filters.add("?before=" + before);
            filters.add("?before=" + before + "&type=Nothing&tenant=t-5");
        }
        filters.add("?until=" + Instant.now().minus(9, ChronoUnit.DAYS).truncatedTo(ChronoUnit.SECONDS));
        both("/messages", filters);
        List<String> ids = new ArrayList<>();
        for (int part = 1; part <= 15; part++) {
            long seq = messages * part / 15;
            ids.add("/" + text("select id from postroom.outbox where seq = " + seq));
            // One with a dead letter, attempts, and a place among what is held.
            ids.add("/"
                    + text("select message_id from postroom.dead_letter where source = 'subscription' and id <= 1 + "
                            + "(select max(id) from postroom.dead_letter) * " + part
                            + " / 15 order by id desc limit 1"));
        }
        each("/messages/{id}", "/messages", ids, "");
        each("/messages/{id}/payload", "/messages", ids, "/payload");
        each(API + "/messages/{id}", API + "/messages", ids, "");
        each(API + "/messages/{id}/why", API + "/messages", ids, "/why");
    }

    private void letters() {
        long newest = number("select max(id) from postroom.dead_letter");
        List<String> filters = List.of(
                "",
                "?subscription=orders",
                "?subscription=search",
                "?subscription=archive",
                "?queue=queue-2",
                "?tenant=t-3",
                "?type=OrderPlaced&cause=crashed",
                "?errorClass=java.io.Failure7",
                "?fingerprint=" + text("select fingerprint from postroom.dead_letter limit 1"),
                "?subscription=billing&errorClass=Nothing",
                "?tenant=nobody",
                "?aggregateType=order&key=o-600",
                "?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z");
        List<String> deep = new ArrayList<>(filters);
        for (int part = 1; part < 8; part++) {
            deep.add("?before=" + newest * part / 8);
            deep.add("?subscription=search&before=" + newest * part / 8);
        }
        byPath.put("/dead-letters", under("/dead-letters", filters, ""));
        byPath.put("/dead-letters/list", under("/dead-letters/list", deep, ""));
        byPath.put(API + "/dead-letters", under(API + "/dead-letters", deep, ""));
        byPath.put(API + "/dead-letters/groups", under(API + "/dead-letters/groups", filters, ""));
        List<String> ids = new ArrayList<>();
        for (int part = 1; part <= 15; part++) {
            ids.add("/"
                    + number("select id from postroom.dead_letter where id <= 1 + " + newest + " * " + part
                            + " / 15 order by id desc limit 1"));
        }
        each("/dead-letters/{id}", "/dead-letters", ids, "");
        each("/dead-letters/{id}/payload", "/dead-letters", ids, "/payload");
        each(API + "/dead-letters/{id}", API + "/dead-letters", ids, "");
        // With a whole filter it counts all that fit, which Browsing measures by itself.
        byPath.put("/redrives/new", List.of("/redrives/new", "/redrives/new?ids=" + newest + "," + newest / 2));
        List<String> redrives = List.of("/" + text("select id from postroom.redrive limit 1"));
        each("/redrives/{id}", "/redrives", redrives, "");
        each(API + "/redrives/{id}", API + "/redrives", redrives, "");
    }

    private void jobs() {
        long newest = number("select max(id) from postroom.job_done");
        List<String> filters =
                new ArrayList<>(List.of("", "?queue=queue-3", "?kind=nothing", "?tenant=t-7", "?batch=" + NEVER));
        for (String state : List.of("ready", "running", "done", "failed", "cancelled")) {
            filters.add("?state=" + state);
            filters.add("?state=" + state + "&before=" + newest / 3);
        }
        both("/jobs", filters);
        List<String> ids = List.of("/1", "/" + newest, "/" + newest / 4, "/" + newest * 3 / 4);
        each("/jobs/{id}", "/jobs", ids, "");
        each("/jobs/{id}/payload", "/jobs", ids, "/payload");
        each(API + "/jobs/{id}", API + "/jobs", ids, "");
        List<String> schedules = List.of("/schedule-1", "/schedule-250");
        both("/schedules", List.of("", "?after=schedule-250", "?after=zero"));
        each("/schedules/{name}", "/schedules", schedules, "");
        each(API + "/schedules/{name}", API + "/schedules", schedules, "");
    }

    private void rest() {
        List<String> names =
                Crowd.SUBSCRIPTIONS.stream().map(name -> "/" + name).toList();
        each("/subscriptions/{name}", "/subscriptions", names, "");
        each(API + "/subscriptions/{name}", API + "/subscriptions", names, "");
        each(API + "/subscriptions/{name}/held-keys", API + "/subscriptions", names, "/held-keys");
        List<String> deliveries = new ArrayList<>();
        for (String state : List.of("", "?state=waiting", "?state=parked", "?state=held", "?state=scheduled")) {
            names.forEach(name -> deliveries.add(name + "/deliveries" + state));
        }
        byPath.put("/subscriptions/{name}/deliveries", under("/subscriptions", deliveries, ""));
        byPath.put(API + "/subscriptions/{name}/deliveries", under(API + "/subscriptions", deliveries, ""));
        List<String> keyIds = List.of("/" + text("""
                select string_agg(rtrim(translate(encode(convert_to(part, 'UTF8'), 'base64'), '+/', '-_'), '='), '.' order by n)
                from (select tenant_id::text, scope::text, key::text from postroom.idempotency_key limit 1) as k,
                     unnest(array[k.tenant_id, k.scope, k.key]) with ordinality as parts (part, n)"""));
        each("/idempotency-keys/{id}", "/idempotency-keys", keyIds, "");
        each(API + "/idempotency-keys/{id}", API + "/idempotency-keys", keyIds, "");
        List<String> keys = new ArrayList<>(List.of(
                "", "?tenant=t-5", "?scope=scope-4", "?scope=nothing", "?tenant=t-5&scope=nothing", "?tenant=nobody"));
        for (String state : List.of("running", "failed", "completed")) {
            keys.add("?state=" + state);
            keys.add("?scope=scope-9&state=" + state);
            keys.add("?tenant=t-9&state=" + state);
        }
        both("/idempotency-keys", keys);
        long newest = number("select max(id) from postroom.audit");
        both(
                "/audit",
                List.of(
                        "",
                        "?actor=operator-3",
                        "?actor=nobody",
                        "?subject=subscription%20orders",
                        "?subject=nothing",
                        "?action=payload%20reveal&actor=nobody",
                        "?before=" + newest / 2,
                        "?before=" + newest / 9 + "&actor=operator-1",
                        "?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"));
    }

    /** A list that is a page and a call. */
    private void both(String path, List<String> filters) {
        byPath.put(path, under(path, filters, ""));
        byPath.put(API + path, under(API + path, filters, ""));
    }

    private void each(String path, String before, List<String> names, String after) {
        byPath.put(path, under(before, names, after));
    }

    private static List<String> under(String before, List<String> names, String after) {
        return names.stream().map(name -> before + name + after).toList();
    }

    private long number(String sql) {
        return database.queryLong(sql);
    }

    private String text(String sql) {
        return database.queryText(sql);
    }
}
