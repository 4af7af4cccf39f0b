package io.postroom.externalcall;

/** Whose turn it is to call, and so what the caller has to do now. */
public sealed interface Turn {
    ExternalCall call();

    /**
     * The caller's: call the provider now, with the key, and end within the lease. Whatever the answer is, say it: {@code done},
     * {@code declined}, {@code park}, or {@code unknown} if there was none.
     */
    record Yours(ExternalCall call) implements Turn {
        /** What the provider gets. */
        public String key() {
            return call.key();
        }
    }

    /** Another's, who has the lease: try again when that is over. */
    record Busy(ExternalCall call) implements Turn {}

    /** Nobody's any more: it is done, or declined. */
    record Over(ExternalCall call) implements Turn {}

    /** Nobody's until somebody has looked at the provider and reconciled it. */
    record Parked(ExternalCall call) implements Turn {}
}
