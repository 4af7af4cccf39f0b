package io.postroom.projection;

import io.postroom.PostroomException;

/** There is no such read model, or no such generation of it. */
public final class UnknownReadModelException extends PostroomException {
    private static final long serialVersionUID = 1L;

    UnknownReadModelException(String message) {
        super("projection.unknown", message);
    }
}
