package io.postroom.server.relay;

import io.postroom.relay.Sink;
import io.postroom.server.message.BreakableOutput;
import io.postroom.server.message.LineOutput;
import io.postroom.server.message.MessageLine;
import io.postroom.testkit.SinkContract;
import java.util.List;

class LogSinkContractTest extends SinkContract {
    private final BreakableOutput output = new BreakableOutput();
    private final LogSink sink = new LogSink(new LineOutput(output), new MessageLine(false));

    @Override
    protected Sink sink() {
        return sink;
    }

    @Override
    protected List<Received> received() {
        return output.messages();
    }

    @Override
    protected void breakDestination() {
        output.fill();
    }

    @Override
    protected void mendDestination() {
        output.empty();
    }

    @Override
    protected String asHeld(String payload) {
        return BreakableOutput.asHeld(payload);
    }
}
