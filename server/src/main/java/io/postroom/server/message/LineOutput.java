package io.postroom.server.message;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Where lines are written, by one or several at once. Lines of several are never mixed, and a line that was torn because the
 * output failed in the middle never spoils the next one. What was written is flushed. Safe for use by many threads.
 */
public final class LineOutput {
    private final OutputStream out;
    private boolean torn;

    public LineOutput(OutputStream out) {
        this.out = out;
    }

    /** Writes whole lines, each with the line feed that ends it. If it throws, some of them may be there, the last one torn. */
    public synchronized void write(byte[] lines) throws IOException {
        if (torn) {
            out.write('\n');
        }
        torn = true;
        out.write(lines);
        out.flush();
        torn = false;
    }
}
