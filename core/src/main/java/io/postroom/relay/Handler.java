package io.postroom.relay;

import io.postroom.message.Envelope;

/**
 * Code of the application that takes messages in this process.
 *
 * <p>Returning means accepted; throwing means try again later. It may be given the same message again after a crash or a
 * takeover, so it must be idempotent by {@code envelope.message().id()}.
 */
@FunctionalInterface
public interface Handler {

    void handle(Envelope envelope) throws Exception;

    /** This handler as a sink that runs it on the lane's own thread. */
    default Sink asSink() {
        return envelope -> {
            handleUnchecked(envelope);
            return Outcomes.ACCEPTED_STAGE;
        };
    }

    private void handleUnchecked(Envelope envelope) {
        try {
            handle(envelope);
        } catch (RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new HandlerException(e);
        } catch (Exception e) {
            throw new HandlerException(e);
        }
    }

    /** Carries a checked exception of a handler to the lane. */
    final class HandlerException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        HandlerException(Exception cause) {
            super(cause);
        }
    }
}
