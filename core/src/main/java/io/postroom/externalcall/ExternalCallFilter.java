package io.postroom.externalcall;

import org.jspecify.annotations.Nullable;

/** Which external calls are meant: those that fit everything that is given. What is null fits all. */
public record ExternalCallFilter(
        @Nullable CallState state,
        @Nullable String name,
        @Nullable String tenant) {
    /** Everything. */
    public static final ExternalCallFilter ALL = new ExternalCallFilter(null, null, null);

    /** Those in one state. */
    public static ExternalCallFilter in(CallState state) {
        return new ExternalCallFilter(state, null, null);
    }
}
