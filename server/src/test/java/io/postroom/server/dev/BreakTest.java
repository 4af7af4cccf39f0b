package io.postroom.server.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.server.Program;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each switch of the demo does what its page promises. */
class BreakTest {
    private static final Pattern CONSOLE = Pattern.compile("Console +(\\S+)(sign-in\\?\\S+)");
    private static final Pattern URL = Pattern.compile("PostgreSQL +(jdbc:postgresql:\\S+)");
    private static final Pattern FORM = Pattern.compile("name=\"formToken\" value=\"([^\"]+)\"");

    @TempDir
    private Path folder;

    @Test
    void everySwitchDoesWhatItSays() throws Exception {
        assertThat(run("break", "poison").err()).contains("no demo runs in " + folder, "start it with postroom dev");
        assertThat(run("break", "nothing").err()).contains("there is no nothing", "carrier-down", "kill-relay");
        try (Program dev = Program.start(
                        "dev", "--port", "0", "--console-port", "0", "--rate", "40", "--data", folder.toString());
                BufferedReader lines = dev.lines()) {
            Matcher console = await(lines, CONSOLE);
            String url = await(lines, URL).group(1);
            HttpClient browser = HttpClient.newBuilder()
                    .cookieHandler(new CookieManager())
                    .followRedirects(HttpClient.Redirect.NORMAL)
                    .build();
            get(browser, console.group(1) + console.group(2));

            assertThat(run("break", "poison").out()).contains("Billing cannot read refunds");
            until(url, "select count(*) = 3 from postroom.dead_letter where owner = 'billing' and resolved_at is null");
            assertThat(get(browser, console.group(1) + "break")).contains("broken", "Mend it");
            assertThat(run("mend", "poison").out()).contains("poison is mended");
            assertThat(run("mend", "poison").out()).contains("was not broken");

            String token = form(get(browser, console.group(1) + "break"));
            post(browser, console.group(1) + "break/carrier-down", "formToken=" + token);
            until(url, "select exists (select from postroom.circuit where subscription = 'shipping')");
            post(browser, console.group(1) + "break/carrier-down/mend", "formToken=" + token);
            until(url, "select not exists (select from postroom.circuit where subscription = 'shipping')");

            run("break", "duplicates");
            until(url, "select count(*) = 10 from demo.payments");
            assertThat(query(url, "select count(*) = 10 from postroom.idempotency_key"))
                    .isTrue();

            run("break", "kill-relay");
            until(url, "select exists (select from postroom.relay where name = 'dev-2')");
            until(
                    url,
                    "select exists (select from postroom.lane as l join postroom.relay as r on r.id = l.owner where r.name = 'dev-2')");
            until(
                    url,
                    "select bool_and(r.name = 'dev') from postroom.lane as l left join postroom.relay as r on r.id = l.owner");
            dev.terminate();
            assertThat(dev.awaitExit(Duration.ofSeconds(30))).isZero();
        }
    }

    private CommandRun run(String act, String fault) {
        return CommandRun.of("dev", act, fault, "--data", folder.toString());
    }

    private static String get(HttpClient browser, String url) throws IOException, InterruptedException {
        return browser.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static void post(HttpClient browser, String url, String form) throws IOException, InterruptedException {
        HttpResponse<String> answer = browser.send(
                HttpRequest.newBuilder(URI.create(url))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(HttpRequest.BodyPublishers.ofString(form))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    private static String form(String page) {
        Matcher matcher = FORM.matcher(page);
        assertThat(matcher.find()).isTrue();
        return matcher.group(1);
    }

    private static Matcher await(BufferedReader lines, Pattern wanted) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher matcher = wanted.matcher(line);
            if (matcher.find()) {
                return matcher;
            }
        }
        throw new AssertionError("it ended without " + wanted);
    }

    private static void until(String url, String sql) throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (!query(url, sql)) {
            assertThat(System.nanoTime()).as(sql).isLessThan(deadline);
            LockSupport.parkNanos(200_000_000);
        }
    }

    private static boolean query(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            return result.next() && result.getBoolean(1);
        }
    }
}
