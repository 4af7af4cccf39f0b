package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Those who send slowly, or never all of it, keep nobody else waiting. */
class SlowCallersTest {
    /** More than the server has threads, and more than it lets wait or send. */
    private static final int SLOW = 500;

    private static final String FORM = "Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";

    private static ConsoleUnderTest console;

    @BeforeAll
    static void start() throws Exception {
        console = ConsoleUnderTest.start();
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    private static Socket open(String text) throws IOException {
        Socket socket = new Socket("127.0.0.1", Integer.parseInt(console.url().replaceAll(".*:", "")));
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** As probes ask: a head, and not a word of a body. Clients of some JDKs add that its length is zero. */
    private static int status(String path) throws IOException {
        try (Socket socket = open("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) {
            socket.setSoTimeout(5_000);
            String line = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            assertThat(line).startsWith("HTTP/1.1 ");
            return Integer.parseInt(line.substring(9));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a body that never ends    | POST /sign-in HTTP/1.1~HEAD~Content-Length: 1000~~f",
                "one with a cookie         | POST /sign-in HTTP/1.1~HEAD~Cookie: postroom_form_0=x~Content-Length: 1000~~f",
                "one in endless chunks     | POST /sign-in HTTP/1.1~HEAD~Transfer-Encoding: chunked~~1~f~",
                "a call                    | POST /api/v1/redrives HTTP/1.1~Host: localhost~Content-Type: application/json~Content-Length: 9~~{",
                "a head that never ends    | GET / HTTP/1.1~Host: loc",
                "nothing at all            | ''"
            })
    void healthIsToldWhileHundredsSendSlowly(String what, String text) throws Exception {
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW; i++) {
                slow.add(open(text.replace("HEAD~", FORM).replace("~", "\r\n")));
            }
            assertThat(status("/health/live")).as(what).isEqualTo(200);
            assertThat(status("/health/ready")).as(what).isEqualTo(200);
            assertThat(status("/sign-in")).as(what).isEqualTo(200);
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    /** The body is waited for before anything is decided, but not without end. */
    @Test
    void whoSendsNoBodyIsRefusedAfterATime() throws Exception {
        try (Socket socket =
                open("POST /sign-in HTTP/1.1\r\n" + FORM + "Content-Length: 8\r\nConnection: close\r\n\r\n")) {
            socket.setSoTimeout(60_000);
            long began = System.nanoTime();
            String begin = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            assertThat(begin).isEqualTo("HTTP/1.1 403");
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(40));
        }
    }

    @Test
    void aFormWithoutATicketIsRefused() throws Exception {
        try (Socket socket =
                open("POST /sign-in HTTP/1.1\r\n" + FORM + "Content-Length: 8\r\nConnection: close\r\n\r\ntoken=ab")) {
            socket.setSoTimeout(5_000);
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 403").contains("this form is too old, or not ours");
        }
    }

    @Test
    void whatIsTooLargeIsRefusedBeforeItCame() throws Exception {
        try (Socket socket =
                open("POST /api/v1/redrives HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: 999999999\r\n\r\n{")) {
            socket.setSoTimeout(5_000);
            byte[] begin = socket.getInputStream().readNBytes(12);
            assertThat(new String(begin, StandardCharsets.US_ASCII)).matches("HTTP/1.1 4(01|13)");
        }
    }
}
