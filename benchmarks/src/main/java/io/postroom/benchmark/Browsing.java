package io.postroom.benchmark;

import io.postroom.message.Upcasters;
import io.postroom.postgres.Schema;
import io.postroom.server.serve.Console;
import io.postroom.server.web.WebSettings;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/** How long somebody waits for each page of the console where there is much, and what an open one costs the database. */
final class Browsing {
    private static final int ROUNDS = 30;
    private static final int PREVIEWS = 5;
    private static final double MILLIS_MAX = 300;
    private static final double LOAD_MAX = 2;
    private static final int REFRESH_SECONDS = 5;
    private static final String NAME = "bench-console";

    private final BenchDatabase database;
    private final long messages;
    private final long letters;
    private final int restSeconds;
    private final List<String> failures = new ArrayList<>();
    private final HttpClient client = HttpClient.newBuilder()
            .cookieHandler(new CookieManager())
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();

    Browsing(BenchDatabase database, long messages, long letters, int restSeconds) {
        this.database = database;
        this.messages = messages;
        this.letters = letters;
        this.restSeconds = restSeconds;
    }

    void run(Report report) throws Exception {
        String section =
                String.format(Locale.ROOT, "Console with %,d messages and %,d dead letters", messages, letters);
        new Crowd(database, messages, letters).fill();
        Questions questions = Questions.of(database, messages);
        try (Console console = Console.start(source(), Schema.POSTROOM, Upcasters.NONE, WebSettings.local(0))) {
            String url = console.url().replaceAll("/$", "");
            report.figure(section, "the first page that anybody asks for, signing in", ask(console.entry()), "ms");
            for (String path : console.reads()) {
                double[] millis = ask(url, questions.of(path));
                report.atMost(
                        section,
                        String.format(Locale.ROOT, "GET %s, p95 (p50 %.1f ms)", path, percentile(millis, 0.5)),
                        percentile(millis, 0.95),
                        "ms",
                        MILLIS_MAX);
            }
            report.atMost(section, "answers that were none", failures.size(), "answers", 0);
            failures.stream().distinct().limit(20).forEach(failure -> report.note(section, "`" + failure + "`"));
            unjudged(report, section, url);
            OptionalDouble load = load(url);
            if (load.isPresent()) {
                report.atMost(
                        section,
                        "CPU of the console's sessions, the overview open in one browser, of this machine",
                        load.getAsDouble(),
                        "%",
                        LOAD_MAX);
            } else {
                report.note(section, "The CPU of the console's sessions was not measured: that takes Linux.");
            }
        }
    }

    /** What nobody can promise: it has to look at all that there is, or counts all that an operator is about to redrive. */
    private void unjudged(Report report, String section, String url) throws Exception {
        report.figure(section, "redrive preview of all dead letters of a subscription, p50", preview(url, ""), "ms");
        report.figure(
                section,
                "redrive preview of one cause of it, p50",
                preview(url, "&cause=crashed&type=OrderPlaced"),
                "ms");
        report.figure(
                section, "redrive preview of one key of it, p50", preview(url, "&aggregateType=order&key=o-600"), "ms");
        int failed = failures.size();
        double millis = percentile(ask(url, List.of("/messages/" + UUID.randomUUID()), 3), 0.5);
        report.figure(
                section, "a message by an id that tells nothing of its time, until found or given up", millis, "ms");
        failures.subList(failed, failures.size()).clear();
    }

    private double preview(String url, String filter) throws Exception {
        return percentile(ask(url, List.of("/redrives/new?subscription=orders" + filter), PREVIEWS), 0.5);
    }

    private PGSimpleDataSource source() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(database.url());
        source.setApplicationName(NAME);
        return source;
    }

    private double[] ask(String url, List<String> addresses) throws Exception {
        return ask(url, addresses, ROUNDS);
    }

    /** Milliseconds of each, sorted, in turn over the addresses; each of them was asked for once before. */
    private double[] ask(String url, List<String> addresses, int rounds) throws Exception {
        for (String address : addresses) {
            ask(url + address);
        }
        double[] millis = new double[Math.max(rounds, addresses.size())];
        for (int round = 0; round < millis.length; round++) {
            millis[round] = ask(url + addresses.get(round % addresses.size()));
        }
        Arrays.sort(millis);
        return millis;
    }

    private double ask(String address) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address)).build();
        long began = System.nanoTime();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        double millis = (System.nanoTime() - began) / 1e6;
        if (response.statusCode() != 200) {
            failures.add(response.statusCode() + " " + address.replaceFirst("^https?://[^/]*", ""));
        }
        return millis;
    }

    private static double percentile(double[] sorted, double share) {
        return sorted[(int) Math.ceil(sorted.length * share) - 1];
    }

    /** In percent of all cores: what the sessions of the console use while one page refreshes itself, as the script of the page does. */
    private OptionalDouble load(String url) throws Exception {
        SessionCpu sessions = new SessionCpu(database, NAME);
        sessions.look();
        long began = System.nanoTime();
        for (int second = 0; second < restSeconds; second++) {
            if (second % REFRESH_SECONDS == 0) {
                ask(url + "/");
            }
            TimeUnit.SECONDS.sleep(1);
            sessions.look();
        }
        double elapsed = Drain.seconds(began);
        OptionalDouble used = sessions.seconds();
        return used.isPresent()
                ? OptionalDouble.of(
                        used.getAsDouble() / elapsed / Runtime.getRuntime().availableProcessors() * 100)
                : used;
    }
}
