package io.postroom.server.tail;

import io.postroom.relay.Sink;
import io.postroom.server.message.BreakableOutput;
import io.postroom.server.message.MessageLine;
import io.postroom.testkit.SinkContract;
import java.util.List;

class LineSinkContractTest extends SinkContract {
    private final BreakableOutput output = new BreakableOutput();
    private final LineSink sink = new LineSink(output, new MessageLine(false), Long.MAX_VALUE, () -> {});

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
