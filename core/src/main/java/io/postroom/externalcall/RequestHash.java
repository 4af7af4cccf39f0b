package io.postroom.externalcall;

import io.postroom.PostroomException;
import java.util.HexFormat;

/** The hash of what is asked for: it tells a repetition from another request under the same key. */
final class RequestHash {
    private static final int BYTES = 32;

    private RequestHash() {}

    static String text(ExternalOperation operation, byte[] hash) {
        if (hash.length != BYTES) {
            throw new PostroomException(
                    "externalcall.hash-invalid",
                    "could not begin external call " + operation + ": the request's hash is " + hash.length
                            + " bytes, SHA-256 has " + BYTES + "; use CanonicalHash.ofJson");
        }
        return HexFormat.of().formatHex(hash);
    }

    static void require(ExternalCall call, String hash) {
        if (!call.requestHash().equals(hash)) {
            throw new PostroomException(
                    "externalcall.request-changed",
                    "could not begin external call " + call.key() + ": it was begun with another request, and is "
                            + call.state().word()
                            + "; a key stands for one request: repeat that one, or begin the next revision once it is declined");
        }
    }
}
