package io.postroom.web.servlet;

import io.postroom.idempotency.Steps;
import jakarta.servlet.ServletRequest;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** What a servlet behind an {@link IdempotencyFilter} takes from its request. */
public final class IdempotentRequest {
    private static final String ATTRIBUTE = IdempotentRequest.class.getName();

    private IdempotentRequest() {}

    /**
     * The transaction that is committed with the answer. Everything that the request changes belongs into it; what is changed elsewhere
     * is not undone when it fails, and done again when it is asked again. The servlet neither commits nor closes it.
     */
    public static Connection tx(ServletRequest request) {
        return take(request, Connection.class, "transaction", "IdempotencyFilter.once");
    }

    /** The steps that are committed one by one, for a request that calls others. */
    public static Steps steps(ServletRequest request) {
        return take(request, Steps.class, "steps", "IdempotencyFilter.steps");
    }

    /** What one request has to hand out, and whether it was taken. For one thread. */
    static final class Offer {
        private final Object resource;
        private boolean taken;

        Offer(Object resource) {
            this.resource = resource;
        }

        boolean isTaken() {
            return taken;
        }

        void on(ServletRequest request) {
            request.setAttribute(ATTRIBUTE, this);
        }

        static void withdraw(ServletRequest request) {
            request.removeAttribute(ATTRIBUTE);
        }
    }

    private static <T> T take(ServletRequest request, Class<T> type, String what, String filter) {
        @Nullable Object offer = request.getAttribute(ATTRIBUTE);
        if (offer instanceof Offer found && type.isInstance(found.resource)) {
            found.taken = true;
            return type.cast(found.resource);
        }
        throw new IllegalStateException("this request has no " + what + ": it did not come through " + filter
                + ", its method needs no key, or it has been answered");
    }
}
