package io.postroom.sink.webhook;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;

/**
 * One connection to an endpoint, speaking as much HTTP/1.1 as a webhook needs: post, read the answer, perhaps stay open. Used
 * by one thread at a time; {@link #abort} may be called by any.
 */
final class HttpConnection {
    /** How long the answer's body may be waited for, once its status is known. */
    private static final Duration BODY_WAIT_MAX = Duration.ofSeconds(1);

    private final Socket raw;
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private long idleSince;

    /** The raw socket is the one to close in haste: closing a TLS socket may itself wait for the peer. */
    HttpConnection(Socket raw, Socket socket) throws IOException {
        this.raw = raw;
        this.socket = socket;
        in = new BufferedInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    /** Posts and waits for the answer, until the deadline at most. Neither retries nor closes. */
    HttpAnswer post(byte[] head, byte[] body, Deadline deadline, Watchdog watchdog) throws IOException {
        ScheduledFuture<?> watch = watchdog.watch(raw, deadline);
        try {
            write(head, body);
            return read(deadline);
        } finally {
            watch.cancel(false);
        }
    }

    private void write(byte[] head, byte[] body) {
        try {
            out.write(head);
            out.write(body);
            out.flush();
        } catch (IOException e) {
            // An endpoint may refuse a large body before it has read all of it: the answer, if any, says more than
            // this.
        }
    }

    private HttpAnswer read(Deadline deadline) throws IOException {
        ResponseHead head;
        boolean[] heard = new boolean[1];
        try {
            head = ResponseHead.read(new Listening(in, heard));
        } catch (NoAnswerException e) {
            throw e;
        } catch (IOException e) {
            if (deadline.passed()) {
                // It may be this message that it hangs on, or all of them: the lane finds out.
                throw new NoAnswerException(ErrorClass.TIMEOUT, "no answer before the deadline of the attempt", false);
            }
            throw new NoAnswerException(
                    ErrorClass.CONNECTION_LOST, "the connection broke before the answer", !heard[0]);
        }
        ResponseBody body = new ResponseBody(in);
        boolean whole;
        try {
            socket.setSoTimeout(deadline.millisLeft(BODY_WAIT_MAX));
            whole = body.read(head) && in.available() == 0;
            socket.setSoTimeout(0);
        } catch (IOException e) {
            // The status is known and decides; only the connection is spoilt.
            whole = false;
        }
        return new HttpAnswer(head.status(), head.header("retry-after"), body.text(), whole && head.keepsAlive());
    }

    void idleSince(long nanoTime) {
        idleSince = nanoTime;
    }

    boolean idleLongerThan(Duration limit) {
        return System.nanoTime() - idleSince > limit.toNanos();
    }

    /** Ends the connection at once, whoever waits on it. */
    void abort() {
        Watchdog.close(raw);
    }

    /** Notices whether the peer sent anything at all. */
    private static final class Listening extends InputStream {
        private final InputStream in;
        private final boolean[] heard;

        private Listening(InputStream in, boolean[] heard) {
            this.in = in;
            this.heard = heard;
        }

        @Override
        public int read() throws IOException {
            int b = in.read();
            heard[0] |= b >= 0;
            return b;
        }
    }
}
