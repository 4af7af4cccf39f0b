package io.postroom.relay;

import io.postroom.message.Envelope;
import java.util.concurrent.CompletionStage;

/**
 * Somewhere messages go: a broker, a webhook, a handler in this process.
 *
 * <p>A sink is called by several lanes at once and must be safe for that. For one key it is never given a message before it
 * has answered for the one before, so a sink keeps order per key by doing nothing special. An answer of
 * {@link Outcome.Accepted} means that the message survives whatever dies next; answering earlier loses messages.
 */
public interface Sink extends AutoCloseable {

    /**
     * Begins to send one message and answers when the outcome is known. Should not block for long: the lane's other messages
     * wait meanwhile. The stage should not fail: what it throws counts as {@link Outcome.Retry}, and so does an exception from
     * this method. Whatever thread completes the stage only leaves the answer for the lane's own.
     */
    CompletionStage<Outcome> send(Envelope envelope);

    /** Called when the lane has nothing more to hand over for now; a sink that collects messages sends them on. */
    default void flush() {}

    /**
     * Releases what the sink holds; its owner calls it after the relay has closed. Calling it again does nothing, and a
     * {@link #send} after it answers {@link Outcome.Unavailable}.
     */
    @Override
    default void close() {}
}
