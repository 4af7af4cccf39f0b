package io.postroom.sink.webhook;

import io.postroom.relay.Sink;
import io.postroom.testkit.SinkContract;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

class StandardBodyContractTest extends SinkContract {
    private static final String DATA = "\"data\":";

    private Receiver receiver;
    private WebhookSink sink;

    @BeforeEach
    void open() throws Exception {
        receiver = new Receiver();
        sink = Sending.local(receiver.url("/hook")).build();
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
                        UUID.fromString(request.header("webhook-id")), null, data(request.body()), request.fields()))
                .toList();
    }

    private static byte[] data(byte[] body) {
        String json = new String(body, StandardCharsets.UTF_8);
        return json.substring(json.indexOf(DATA) + DATA.length(), json.length() - 1)
                .getBytes(StandardCharsets.UTF_8);
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
        return Set.of(Sending.SECRET, Sending.SECRET.substring("whsec_".length()));
    }
}
