package io.postroom.message;

import java.util.function.UnaryOperator;
import tools.jackson.databind.node.ObjectNode;

/**
 * Turns the payload of one version of an event type into that of the next.
 *
 * <p>It is called whenever an old message is read, by any reader and any thread, as often as the message is read: it must give the
 * same answer each time, quickly, and touch nothing outside. What it throws makes the message unreadable, not the reader stop. Its
 * exception's message is shown to operators, so it should quote nothing of the payload.
 */
@FunctionalInterface
public interface Upcaster {

    /** The payload of the next version, as JSON text within the limits of {@link MessageRules}. */
    String upcast(String payload);

    /**
     * Works on the payload as a tree, which must be an object. Names keep their order and numbers their value and their digits,
     * however long they are; only the spelling of exponents, spaces and escapes may change, and negative zero loses its sign. The
     * tree is the operator's own: it may be changed in place.
     */
    static Upcaster json(UnaryOperator<ObjectNode> change) {
        return new JsonUpcaster(change);
    }

    /** For a version that only allows more than the one before: every old payload is a new one as it stands. */
    static Upcaster unchanged() {
        return payload -> payload;
    }
}
