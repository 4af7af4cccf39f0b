package io.postroom.server.relay;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import io.postroom.retry.Fault;
import io.postroom.server.message.LineOutput;
import io.postroom.server.message.MessageLine;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Prints one line per message, to try a relay out. Several sinks may share one output. Safe for use by many threads. */
final class LogSink implements Sink {
    private final LineOutput out;
    private final MessageLine format;
    private volatile boolean closed;

    LogSink(LineOutput out, MessageLine format) {
        this.out = out;
        this.format = format;
    }

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        if (closed) {
            return unavailable("closed", "the sink is closed");
        }
        try {
            out.write(format.encode(envelope));
            return Outcome.acceptedStage();
        } catch (IOException e) {
            return unavailable("output", "could not write standard output: " + e.getMessage());
        }
    }

    /** The output stays open: it is the process's. */
    @Override
    public void close() {
        closed = true;
    }

    private static CompletionStage<Outcome> unavailable(String errorClass, String reason) {
        return CompletableFuture.completedStage(new Outcome.Unavailable(Fault.of(errorClass, reason), null));
    }
}
