package io.postroom.server.relay;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import io.postroom.server.message.MessageLine;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Prints one line per message, to try a relay out. Lines of several lanes are never mixed. */
final class LogSink implements Sink {
    private final OutputStream out;
    private final MessageLine format;

    LogSink(OutputStream out, MessageLine format) {
        this.out = out;
        this.format = format;
    }

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        byte[] line = format.encode(envelope);
        try {
            // Several sinks share one output.
            synchronized (out) {
                out.write(line);
                out.flush();
            }
            return CompletableFuture.completedStage(Outcome.accepted());
        } catch (IOException e) {
            return CompletableFuture.completedStage(Outcome.unavailable("standard output is closed"));
        }
    }
}
