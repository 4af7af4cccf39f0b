package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Outcome;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where connections go when a name server lies. */
@Timeout(60)
class DialerTest {
    private static final String NAME = "rebind.example";
    private static final String OK = "HTTP/1.1 204 x\r\nConnection: close\r\n\r\n";

    /** 127.0.0.2 is allowed here, as a public address would be; 127.0.0.1 is the local network. */
    @Test
    void connectsToTheAddressThatWasCheckedHoweverTheNameServerAnswersNext() throws Exception {
        Names names = Names.inTurn(NAME, List.of(new String[] {"127.0.0.2"}, new String[] {"127.0.0.1"}));
        try (ScriptedServer inside = ScriptedServer.answering(OK);
                ScriptedServer outside = new ScriptedServer("127.0.0.2", inside.port(), connection -> {
                    connection.readRequest();
                    connection.write(OK);
                });
                WebhookSink sink = WebhookSink.to("http://" + NAME + ":" + inside.port() + "/")
                        .secret(Sending.SECRET)
                        .allowPrivate("127.0.0.2")
                        .allowHttp()
                        .resolver(names)
                        .build()) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            assertThat(names.asked())
                    .as("one lookup, which was checked and used")
                    .isEqualTo(1);

            Outcome rebound = Sending.send(sink);
            assertThat(rebound).isInstanceOf(Outcome.Unavailable.class);
            assertThat(Sending.reason(rebound)).contains("the address 127.0.0.1 is not a public address");
            assertThat(outside.connections()).isEqualTo(1);
            assertThat(inside.connections()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "1.1.1.1,127.0.0.1",
                "127.0.0.1,1.1.1.1",
                "1.1.1.1,10.0.0.1",
                "1.1.1.1,::1",
                "2606:4700::1,fd00::1",
                "169.254.169.254",
                "::ffff:127.0.0.1",
                "64:ff9b::7f00:1",
                "0.0.0.0"
            })
    void oneBadAddressSpoilsTheName(String addresses) throws Exception {
        try (ScriptedServer inside = ScriptedServer.answering(OK);
                WebhookSink sink = WebhookSink.to("https://" + NAME + ":" + inside.port() + "/")
                        .secret(Sending.SECRET)
                        .resolver(Names.of(NAME, addresses.split(",")))
                        .build()) {
            Outcome outcome = Sending.send(sink);
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            assertThat(Sending.reason(outcome)).containsAnyOf("is not a public address", "cannot be allowed");
            assertThat(inside.connections()).isZero();
        }
    }

    @Test
    void sendsInTheClearOnlyToAllowedAddresses() throws Exception {
        try (WebhookSink sink = WebhookSink.to("http://" + NAME + "/")
                .secret(Sending.SECRET)
                .allowPrivate("127.0.0.2")
                .allowHttp()
                .resolver(Names.of(NAME, "1.1.1.1"))
                .build()) {
            assertThat(Sending.reason(Sending.send(sink))).contains("may be sent to without TLS");
        }
    }

    @Test
    void triesTheNextAddressWhenOneIsDown() throws Exception {
        try (ScriptedServer server = ScriptedServer.answering(OK);
                WebhookSink sink = Sending.local("http://" + NAME + ":" + server.port() + "/")
                        .resolver(Names.of(NAME, "127.0.0.9", "127.0.0.1"))
                        .build()) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void anUnknownNameIsUnavailable() throws Exception {
        for (Resolver resolver :
                List.of(Names.of("other.example", "127.0.0.1"), (Resolver) host -> new InetAddress[0])) {
            try (WebhookSink sink =
                    Sending.local("http://" + NAME + "/").resolver(resolver).build()) {
                Outcome outcome = Sending.send(sink);
                assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
                assertThat(Sending.reason(outcome))
                        .containsAnyOf("its name does not resolve", "its name has no address");
            }
        }
    }

    @Test
    void aNameServerThatHangsHoldsNobodyLonger() throws Exception {
        CountDownLatch back = new CountDownLatch(1);
        try (ScriptedServer server = ScriptedServer.answering(OK);
                WebhookSink sink = Sending.local("http://" + NAME + ":" + server.port() + "/")
                        .connectTimeout(Duration.ofMillis(100))
                        .concurrency(2)
                        .resolver(host -> {
                            awaitQuietly(back);
                            return new InetAddress[] {InetAddress.getByName("127.0.0.1")};
                        })
                        .build()) {
            for (int n = 0; n < 8; n++) {
                Outcome outcome = Sending.send(sink);
                assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
                assertThat(Sending.reason(outcome))
                        .containsAnyOf("its name was not resolved within 100 ms", "earlier lookups of its name");
            }
            back.countDown();
            Outcome outcome = Sending.send(sink);
            for (int n = 0; n < 1_000 && !(outcome instanceof Outcome.Accepted); n++) {
                outcome = Sending.send(sink);
            }
            assertThat(outcome).isInstanceOf(Outcome.Accepted.class);
        }
    }

    /** Waits through interrupts, as a lookup in the operating system does. */
    private static void awaitQuietly(CountDownLatch latch) {
        boolean waiting = true;
        while (waiting) {
            try {
                latch.await();
                waiting = false;
            } catch (InterruptedException e) {
                waiting = true;
            }
        }
    }

    @Test
    void usesNoProxyWhateverTheSystemPropertiesSay() throws Exception {
        try (ScriptedServer proxy = ScriptedServer.answering(OK);
                ScriptedServer server = ScriptedServer.answering(OK);
                WebhookSink sink = Sending.local(server.url()).build()) {
            Map<String, String> properties = Map.of(
                    "socksProxyHost", "127.0.0.1",
                    "socksProxyPort", Integer.toString(proxy.port()),
                    "socksNonProxyHosts", "",
                    "http.proxyHost", "127.0.0.1",
                    "http.proxyPort", Integer.toString(proxy.port()),
                    "http.nonProxyHosts", "");
            properties.forEach(System::setProperty);
            try {
                assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            } finally {
                properties.keySet().forEach(System::clearProperty);
            }
            assertThat(server.connections()).isEqualTo(1);
            assertThat(proxy.connections()).isZero();
        }
    }
}
