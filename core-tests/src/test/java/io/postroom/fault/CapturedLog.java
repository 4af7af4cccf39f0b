package io.postroom.fault;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What this process logs while it is open: the test logger writes to standard error, and this listens there. */
public final class CapturedLog implements AutoCloseable {
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream captured = new ByteArrayOutputStream();

    public CapturedLog() {
        System.setErr(new PrintStream(new Both(), true, StandardCharsets.UTF_8));
    }

    public String text() {
        return captured.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        System.setErr(before);
    }

    /** Writes to both ends. */
    private final class Both extends OutputStream {
        @Override
        public void write(int b) {
            captured.write(b);
            before.write(b);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            captured.write(bytes, offset, length);
            before.write(bytes, offset, length);
        }
    }
}
