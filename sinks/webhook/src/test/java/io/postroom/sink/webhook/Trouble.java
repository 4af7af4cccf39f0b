package io.postroom.sink.webhook;

import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.testkit.Messages;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Ways in which a webhook gets no answer with a status, by the error class that the README has for them. */
interface Trouble {
    Duration SHORT = Duration.ofMillis(300);
    String NAME = "hooks.example.com";

    Map<String, Trouble> TABLE = Map.ofEntries(
            Map.entry(
                    "dns",
                    () -> sendOne(
                            Sending.local("http://" + NAME + "/").resolver(Names.of("other.example", "127.0.0.1")))),
            Map.entry(
                    "address-refused",
                    () -> sendOne(WebhookSink.to("https://" + NAME + "/")
                            .secret(Sending.SECRET)
                            .resolver(Names.of(NAME, "1.1.1.1", "10.0.0.1")))),
            Map.entry("connect", Trouble::noConnection),
            Map.entry("tls", Trouble::noTls),
            Map.entry("timeout", () -> sendTo(ScriptedServer.Connection::hang)),
            Map.entry("connection-lost", () -> sendTo(ScriptedServer.Connection::readRequest)),
            Map.entry(
                    "not-http",
                    () -> sendTo(connection -> {
                        connection.readRequest();
                        connection.write("220 mail.example ESMTP\r\n\r\n");
                    })),
            Map.entry("busy", Trouble::tooMany),
            Map.entry("closed", Trouble::closed),
            Map.entry("sink-failed", () -> {
                try (Receiver receiver = new Receiver()) {
                    return sendOne(Sending.local(receiver.url("/")).clock(new BrokenClock()));
                }
            }));

    /** Makes it, and returns what the sink answered. */
    List<Outcome> make() throws Exception;

    private static List<Outcome> sendOne(WebhookSink.Builder builder) throws Exception {
        try (WebhookSink sink = builder.build()) {
            return List.of(Sending.send(sink));
        }
    }

    private static List<Outcome> sendTo(ScriptedServer.Script script) throws Exception {
        try (ScriptedServer server = new ScriptedServer(script)) {
            return sendOne(Sending.local(server.url()).attemptTimeout(SHORT));
        }
    }

    private static List<Outcome> noConnection() throws Exception {
        String url;
        try (Receiver receiver = new Receiver()) {
            url = receiver.url("/");
        }
        List<Outcome> outcomes = new ArrayList<>(sendOne(Sending.local(url)));
        // It listens, but says nothing.
        try (ScriptedServer server = new ScriptedServer(ScriptedServer.Connection::hang)) {
            outcomes.addAll(sendOne(
                    Sending.local("https://127.0.0.1:" + server.port() + "/").attemptTimeout(SHORT)));
        }
        return outcomes;
    }

    private static List<Outcome> noTls() throws Exception {
        List<Outcome> outcomes = new ArrayList<>();
        for (Certificate shown : List.of(Certificate.trusted(), Certificate.expired(), Certificate.forAnotherHost())) {
            try (Receiver receiver = new Receiver(shown.context())) {
                outcomes.addAll(sendOne(Sending.local("https://127.0.0.1:" + receiver.port() + "/")));
            }
        }
        return outcomes;
    }

    /** The first has the only worker, perhaps the second after it; the third waits too long, and the fourth finds no room to wait. */
    private static List<Outcome> tooMany() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer.Connection::hang);
                WebhookSink sink = Sending.local(server.url())
                        .attemptTimeout(SHORT)
                        .concurrency(1)
                        .waitingMax(2)
                        .build()) {
            List<CompletionStage<Outcome>> answers = new ArrayList<>();
            for (Message message : Messages.ofManyKeys("order", 4)) {
                answers.add(sink.send(Messages.firstAttempt(message)));
            }
            return List.of(Sending.answer(answers.get(2)), Sending.answer(answers.get(3)));
        }
    }

    private static List<Outcome> closed() throws Exception {
        WebhookSink sink = Sending.local("http://127.0.0.1:9/").build();
        sink.close();
        return List.of(Sending.send(sink));
    }

    /** A part of the sink with a defect. */
    final class BrokenClock extends Clock {
        @Override
        public ZoneId getZone() {
            throw new IllegalStateException("broken");
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            throw new IllegalStateException("broken");
        }
    }
}
