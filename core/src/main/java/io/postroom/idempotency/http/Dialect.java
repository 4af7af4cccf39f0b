package io.postroom.idempotency.http;

/** Which statuses refusals have. Titles and bodies are the same in both. */
public enum Dialect {
    /** 409 if the key was used for another request, 425 with Retry-After while the first one runs. */
    SEEDS(409, 425),
    /** As in draft-ietf-httpapi-idempotency-key-header: 422 if the key was used for another request, 409 while the first one runs. */
    IETF(422, 409);

    private final int mismatch;
    private final int running;

    Dialect(int mismatch, int running) {
        this.mismatch = mismatch;
        this.running = running;
    }

    int mismatch() {
        return mismatch;
    }

    int running() {
        return running;
    }
}
