package io.postroom.server.web;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * What somebody watches: server-sent events, written as they come. Data is one line of JSON, so that nothing in it can begin an event of
 * its own. For one thread.
 */
public final class EventStream {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final OutputStream output;
    private boolean isWritten;

    EventStream(OutputStream output) {
        this.output = output;
    }

    /** One event; {@code position} is what a viewer gives back as Last-Event-ID to go on after it. */
    public void send(String event, @Nullable Long position, Object value) throws IOException {
        write((position == null ? "" : "id: " + position + "\n") + "event: " + event + "\ndata: "
                + JSON.writeValueAsString(value) + "\n\n");
    }

    /** Tells that a viewer has seen everything up to a position; nothing happens at the viewer. */
    public void reached(long position) throws IOException {
        write("id: " + position + "\n\n");
    }

    /** Something that viewers pass over: it shows both sides that the other one is there. */
    void beat() throws IOException {
        write(": still here\n\n");
    }

    /** How long a viewer waits before it comes back. */
    void retryAfter(long milliseconds) throws IOException {
        write("retry: " + milliseconds + "\n\n");
    }

    private void write(String text) throws IOException {
        output.write(text.getBytes(StandardCharsets.UTF_8));
        isWritten = true;
    }

    /** Sends what was written; says whether there was anything. */
    boolean flush() throws IOException {
        boolean was = isWritten;
        isWritten = false;
        if (was) {
            output.flush();
        }
        return was;
    }
}
