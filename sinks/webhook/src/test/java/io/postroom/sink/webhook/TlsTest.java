package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Outcome;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** TLS to the name, over a connection to the checked address. */
@Timeout(60)
class TlsTest {
    private static final String NAME = "hooks.example.com";

    @Test
    void verifiesTheNameThoughItConnectsToAnAddress() throws Exception {
        Certificate certificate = Certificate.trusted();
        try (Receiver receiver = new Receiver(certificate.context());
                WebhookSink sink = sink(receiver.port(), Certificate.authority())) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            assertThat(receiver.only().header("host")).isEqualTo(NAME + ":" + receiver.port());
        }
    }

    @Test
    void verifiesAnAddressInTheUrl() throws Exception {
        Certificate certificate = Certificate.trusted();
        try (Receiver receiver = new Receiver(certificate.context());
                WebhookSink sink = Sending.local(receiver.url("/"))
                        .trustStore(Certificate.authority())
                        .build()) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void refusesACertificateFromAnUnknownAuthority() throws Exception {
        refuses(Certificate.trusted(), null, "the certificate is not from a trusted authority");
    }

    @Test
    void refusesAnExpiredCertificate() throws Exception {
        refuses(Certificate.expired(), Certificate.authority(), "the certificate has expired");
    }

    @Test
    void refusesACertificateThatIsNotValidYet() throws Exception {
        refuses(Certificate.notYetValid(), Certificate.authority(), "the certificate is not valid yet");
    }

    @Test
    void refusesACertificateForAnotherHost() throws Exception {
        refuses(Certificate.forAnotherHost(), Certificate.authority(), "the certificate is for another host");
    }

    private static void refuses(Certificate shown, KeyStore trusted, String fact) throws Exception {
        try (Receiver receiver = new Receiver(shown.context());
                WebhookSink sink = sink(receiver.port(), trusted)) {
            Outcome outcome = Sending.send(sink);
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            assertThat(Sending.reason(outcome)).contains("the TLS handshake failed, " + fact);
            assertThat(receiver.requests()).isEmpty();
        }
    }

    @Test
    void refusesAServerWithoutTls() throws Exception {
        try (ScriptedServer server =
                        new ScriptedServer(connection -> connection.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
                WebhookSink sink = sink(server.port(), null)) {
            Outcome outcome = Sending.send(sink);
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            assertThat(Sending.reason(outcome)).contains("the TLS handshake failed");
        }
    }

    @Test
    void offersTheNameAndNothingOlderThanTls12() throws Exception {
        CompletableFuture<byte[]> hello = new CompletableFuture<>();
        try (ScriptedServer server = new ScriptedServer(connection -> {
                    byte[] record = connection.readSome(5);
                    hello.complete(connection.readSome((record[3] & 0xff) << 8 | record[4] & 0xff));
                });
                WebhookSink sink = sink(server.port(), null)) {
            Outcome outcome = Sending.send(sink);
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            byte[] bytes = hello.get(10, TimeUnit.SECONDS);
            assertThat(new String(bytes, StandardCharsets.ISO_8859_1))
                    .contains(NAME)
                    .contains("http/1.1");
            // The extension supported_versions, with two of them: 1.3 and 1.2.
            assertThat(HexFormat.of().formatHex(bytes)).contains("002b00050403040303");
        }
    }

    private static WebhookSink sink(int port, KeyStore trusted) {
        WebhookSink.Builder builder =
                Sending.local("https://" + NAME + ":" + port + "/").resolver(Names.of(NAME, "127.0.0.1"));
        return trusted == null ? builder.build() : builder.trustStore(trusted).build();
    }
}
