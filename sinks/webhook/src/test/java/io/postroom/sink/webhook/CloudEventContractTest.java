package io.postroom.sink.webhook;

import io.postroom.relay.Sink;
import io.postroom.testkit.SinkContract;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The same contract over TLS, with the other body. */
class CloudEventContractTest extends SinkContract {
    private Receiver receiver;
    private WebhookSink sink;

    @BeforeEach
    void open() throws Exception {
        receiver = new Receiver(Certificate.trusted().context());
        sink = Sending.local("https://hooks.example.com:" + receiver.port() + "/hook")
                .resolver(Names.of("hooks.example.com", "127.0.0.1"))
                .trustStore(Certificate.authority())
                .cloudEvents("/orders")
                .build();
    }

    @AfterEach
    void close() {
        sink.close();
        receiver.close();
    }

    @Override
    protected Sink sink() {
        return sink;
    }

    @Override
    protected List<Received> received() {
        return receiver.requests().stream()
                .map(request -> new Received(
                        UUID.fromString(request.header("ce-id")),
                        URLDecoder.decode(request.header("ce-partitionkey"), StandardCharsets.UTF_8),
                        request.body(),
                        request.fields()))
                .toList();
    }

    @Override
    protected void breakDestination() {
        receiver.breakDown();
    }

    @Override
    protected void mendDestination() throws Exception {
        receiver.mend();
    }

    @Override
    protected Set<String> secrets() {
        return Set.of(Sending.SECRET);
    }
}
