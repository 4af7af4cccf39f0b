package io.postroom.sink.webhook;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The status and headers of an answer, read within limits. Of a header that comes twice, the values are joined by a comma. */
record ResponseHead(boolean http11, int status, Map<String, String> headers) {
    static final int HEAD_BYTES_MAX = 16_384;

    private static final int INTERIM_ANSWERS_MAX = 8;
    private static final Pattern STATUS_LINE = Pattern.compile("HTTP/1\\.([01]) ([1-9]\\d\\d)(?: .*)?");

    /** Reads the final answer's head, past interim ones such as 100 Continue. */
    static ResponseHead read(InputStream in) throws IOException {
        for (int interim = 0; interim <= INTERIM_ANSWERS_MAX; interim++) {
            ResponseHead head = readOne(in);
            if (head.status >= 200) {
                return head;
            }
            if (head.status == 101) {
                throw new NoAnswerException(ErrorClass.NOT_HTTP, "the endpoint switched protocols", false);
            }
        }
        throw new NoAnswerException(
                ErrorClass.NOT_HTTP, "more than " + INTERIM_ANSWERS_MAX + " interim answers", false);
    }

    private static ResponseHead readOne(InputStream in) throws IOException {
        int left = HEAD_BYTES_MAX;
        String statusLine = line(in, left);
        Matcher status = STATUS_LINE.matcher(statusLine);
        if (!status.matches()) {
            throw new NoAnswerException(ErrorClass.NOT_HTTP, "the answer is not HTTP/1.1", false);
        }
        left -= statusLine.length();
        Map<String, String> headers = new HashMap<>();
        for (String line = line(in, left); !line.isEmpty(); line = line(in, left)) {
            left -= line.length() + 1;
            int colon = line.indexOf(':');
            if (colon < 1) {
                throw new NoAnswerException(ErrorClass.NOT_HTTP, "the answer has a header without a name", false);
            }
            headers.merge(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip(),
                    (first, second) -> first + "," + second);
        }
        return new ResponseHead(status.group(1).equals("1"), Integer.parseInt(status.group(2)), headers);
    }

    /** One line without its end, of at most so many bytes. */
    static String line(InputStream in, int bytesMax) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException();
            }
            if (line.length() >= bytesMax) {
                throw new NoAnswerException(
                        ErrorClass.NOT_HTTP, "the answer's head is longer than " + HEAD_BYTES_MAX + " bytes", false);
            }
            line.append((char) b);
        }
        int length = line.length();
        if (length > 0 && line.charAt(length - 1) == '\r') {
            line.setLength(length - 1);
        }
        return line.toString();
    }

    @Nullable
    String header(String name) {
        return headers.get(name);
    }

    boolean chunked() {
        return "chunked".equalsIgnoreCase(headers.get("transfer-encoding"));
    }

    /** The length that the head names, or -1 if it names none or a wrong one. */
    long contentLength() {
        String length = headers.get("content-length");
        return length == null || !length.matches("\\d{1,15}") ? -1 : Long.parseLong(length);
    }

    /** Whether the answer's end can be told and the endpoint wants the connection kept; in doubt it is not. */
    boolean keepsAlive() {
        String connection = headers.getOrDefault("connection", "");
        boolean oneFraming = !(headers.containsKey("transfer-encoding") && headers.containsKey("content-length"));
        return http11 && oneFraming && !connection.toLowerCase(Locale.ROOT).contains("close");
    }
}
