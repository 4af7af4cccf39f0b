package io.postroom.externalcall;

import org.jspecify.annotations.Nullable;

/** What a provider said, or that it said nothing. */
public sealed interface ProviderAnswer {
    /** It has happened, now or at an earlier attempt. The reference is what the provider calls it. */
    record Done(@Nullable String reference) implements ProviderAnswer {}

    /** It has not happened and never will under this key: a card that was refused, a request that is not valid. */
    record Declined(String reason) implements ProviderAnswer {}

    /** Nobody can tell: a timeout, a broken connection, an answer that it is still busy. It is called again with the same key. */
    record Unknown(String reason) implements ProviderAnswer {}

    /** Calling again would not tell either: the provider repeats an error that it has stored. Somebody must look there. */
    record Unclear(String reason) implements ProviderAnswer {}

    static ProviderAnswer done(@Nullable String reference) {
        return new Done(reference);
    }

    static ProviderAnswer declined(String reason) {
        return new Declined(reason);
    }

    static ProviderAnswer unknown(String reason) {
        return new Unknown(reason);
    }

    static ProviderAnswer unclear(String reason) {
        return new Unclear(reason);
    }
}
