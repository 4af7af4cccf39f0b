package io.postroom.web.servlet;

import io.postroom.PostroomException;
import io.postroom.idempotency.Answer;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A response whose body is held back until it is known that what it says was committed. Status and headers are set on the response
 * behind it, which cannot be on its way before its body is.
 */
final class HeldResponse extends HttpServletResponseWrapper {
    private final Held held = new Held();
    private @Nullable PrintWriter writer;

    HeldResponse(HttpServletResponse response) {
        super(response);
    }

    /** What was written. Throws if that is more than can be stored: then what was done must not be committed. */
    byte[] body() {
        if (writer != null) {
            writer.flush();
        }
        if (held.count > Answer.BODY_BYTES_MAX) {
            throw new PostroomException(
                    "idempotency.answer-invalid",
                    "could not store the answer: its body is " + held.count + " bytes, the limit is "
                            + Answer.BODY_BYTES_MAX
                            + "; answer with less or with a link");
        }
        return held.bytes.toByteArray();
    }

    /** Those of these headers that were set. */
    Map<String, String> headers(Set<String> names) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String name : names) {
            String value =
                    name.equalsIgnoreCase("Content-Type") ? getContentType() : String.join(", ", getHeaders(name));
            if (value != null && !value.isEmpty()) {
                found.put(name, value);
            }
        }
        return found;
    }

    @Override
    public ServletOutputStream getOutputStream() {
        return held;
    }

    @Override
    public PrintWriter getWriter() {
        PrintWriter open = writer;
        if (open == null) {
            String encoding = getCharacterEncoding();
            // As the container would do: from now on the content type names it.
            setCharacterEncoding(encoding);
            open = new PrintWriter(new OutputStreamWriter(held, Charset.forName(encoding)));
            writer = open;
        }
        return open;
    }

    @Override
    public void sendError(int status, String message) {
        sendError(status);
    }

    /** The container's own page would be written past us, and would not be replayed. */
    @Override
    public void sendError(int status) {
        resetBuffer();
        setStatus(status);
    }

    @Override
    public void sendRedirect(String location) {
        sendRedirect(location, SC_FOUND, true);
    }

    @Override
    public void sendRedirect(String location, boolean clearBuffer) {
        sendRedirect(location, SC_FOUND, clearBuffer);
    }

    @Override
    public void sendRedirect(String location, int status) {
        sendRedirect(location, status, true);
    }

    @Override
    public void sendRedirect(String location, int status, boolean clearBuffer) {
        if (clearBuffer) {
            resetBuffer();
        }
        setStatus(status);
        setHeader("Location", location);
    }

    /** The length is known when everything is written. */
    @Override
    public void setContentLength(int length) {}

    @Override
    public void setContentLengthLong(long length) {}

    @Override
    public void flushBuffer() {
        if (writer != null) {
            writer.flush();
        }
    }

    @Override
    public boolean isCommitted() {
        return false;
    }

    @Override
    public void setBufferSize(int size) {}

    @Override
    public void resetBuffer() {
        flushBuffer();
        held.clear();
    }

    @Override
    public void reset() {
        resetBuffer();
        writer = null;
        super.reset();
    }

    /** Keeps up to what can be stored and counts the rest. */
    private static final class Held extends ServletOutputStream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private long count;

        private void clear() {
            bytes.reset();
            count = 0;
        }

        @Override
        public void write(int value) {
            count++;
            if (count <= Answer.BODY_BYTES_MAX) {
                bytes.write(value);
            }
        }

        @Override
        public void write(byte[] source, int offset, int length) {
            count += length;
            if (count <= Answer.BODY_BYTES_MAX) {
                bytes.write(source, offset, length);
            }
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new IllegalStateException(
                    "an answer behind an IdempotencyFilter is written before its servlet returns");
        }
    }
}
