package io.postroom.sink.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The beginning of an answer's body. No more than {@link #BYTES_MAX} are ever read or kept. */
final class ResponseBody {
    static final int BYTES_MAX = 1_024;

    private static final int CHUNK_LINE_BYTES_MAX = 128;
    private static final int TRAILERS_MAX = 16;

    private final InputStream in;
    private final byte[] bytes = new byte[BYTES_MAX];
    private int length;

    ResponseBody(InputStream in) {
        this.in = in;
    }

    /** Reads the body, or what of it is within the limit; says whether that was the whole and the next answer may follow. */
    boolean read(ResponseHead head) throws IOException {
        if (head.status() == 204 || head.status() == 304) {
            return true;
        }
        if (head.chunked()) {
            return readChunks();
        }
        boolean framed = head.contentLength() >= 0 && head.header("transfer-encoding") == null;
        if (framed && head.contentLength() <= BYTES_MAX) {
            return take(head.contentLength());
        }
        // Too long or without an end: the connection is lost anyway, and nobody reads the text of a success.
        if (head.status() >= 300) {
            take(BYTES_MAX);
        }
        return false;
    }

    private boolean readChunks() throws IOException {
        // Ends with the last chunk, at the limit, or when the peer breaks the rules.
        while (true) {
            String size =
                    ResponseHead.line(in, CHUNK_LINE_BYTES_MAX).split(";", 2)[0].strip();
            if (!size.matches("[0-9a-fA-F]{1,8}")) {
                return false;
            }
            long left = Long.parseLong(size, 16);
            if (left == 0) {
                return readTrailers();
            }
            if (!take(left) || !ResponseHead.line(in, CHUNK_LINE_BYTES_MAX).isEmpty()) {
                return false;
            }
        }
    }

    private boolean readTrailers() throws IOException {
        for (int n = 0; n < TRAILERS_MAX; n++) {
            if (ResponseHead.line(in, CHUNK_LINE_BYTES_MAX).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private boolean take(long count) throws IOException {
        int wanted = (int) Math.min(count, BYTES_MAX - length);
        int taken = in.readNBytes(bytes, length, wanted);
        length += taken;
        return taken == count;
    }

    String text() {
        return new String(Arrays.copyOf(bytes, length), StandardCharsets.UTF_8);
    }
}
