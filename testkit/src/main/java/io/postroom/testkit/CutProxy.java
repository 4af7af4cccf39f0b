package io.postroom.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy on loopback in front of PostgreSQL that a test can make fail: it passes, swallows or refuses, and cuts what is
 * open, if told so exactly before or after a commit.
 *
 * <p>Knows just enough of the protocol to find a COMMIT; the connection must not be encrypted. Safe for use by many threads.
 */
public final class CutProxy implements AutoCloseable {
    private static final int CHUNK_BYTES = 65_536;

    /** What a client sends in order to commit: the end of a Parse message, or of a simple query. */
    private static final byte[] COMMIT_ASKED = "COMMIT\0".getBytes(StandardCharsets.US_ASCII);

    /** What the server answers: CommandComplete, its length, the tag. */
    private static final byte[] COMMIT_DONE = "C\0\0\0\13COMMIT\0".getBytes(StandardCharsets.US_ASCII);

    private enum Mode {
        PASS,
        BLACKHOLE,
        REFUSE
    }

    private enum Trap {
        NONE,
        BEFORE_COMMIT,
        AFTER_COMMIT
    }

    private final int targetPort;
    private final int port;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Trap> trap = new AtomicReference<>(Trap.NONE);
    private final AtomicInteger cut = new AtomicInteger();
    private final AtomicInteger trapped = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Mode mode = Mode.PASS;
    private @Nullable ServerSocket listening;
    private volatile boolean closed;

    private CutProxy(int targetPort) throws IOException {
        this.targetPort = targetPort;
        this.port = listen(0);
    }

    /** A proxy to a port on loopback. */
    public static CutProxy to(int port) {
        try {
            return new CutProxy(port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return port;
    }

    /** The same URL, through this proxy. */
    public String url(String url) {
        return url.replaceFirst("//[^/]+/", "//127.0.0.1:" + port + "/");
    }

    /** Everything flows, also on connections that were swallowed so far. */
    public void pass() {
        change(Mode.PASS);
    }

    /** Connections stay open and new ones open, but no byte arrives, in either direction. */
    public void blackhole() {
        change(Mode.BLACKHOLE);
    }

    /** New connections are refused; open ones go on. */
    public void refuse() {
        change(Mode.REFUSE);
    }

    /** Open connections go silent for good, as when the machine behind them is gone; new ones pass. Returns how many. */
    public int strand() {
        int count = 0;
        for (Link link : links) {
            link.stranded = true;
            count++;
        }
        return count;
    }

    /** Resets every open connection, on both sides; returns how many there were. */
    public int cut() {
        int count = 0;
        for (Link link : links) {
            if (link.reset()) {
                count++;
            }
        }
        cut.addAndGet(count);
        return count;
    }

    /** Loses the connection of the next commit before the server hears of it: it is rolled back. */
    public void cutBeforeNextCommit() {
        trap.set(Trap.BEFORE_COMMIT);
    }

    /** Loses the server's answer to the next commit: it is committed, and the client cannot know. */
    public void cutAfterNextCommit() {
        trap.set(Trap.AFTER_COMMIT);
    }

    /** How many connections were cut by {@link #cut}. */
    public int connectionsCut() {
        return cut.get();
    }

    /** How many commits were cut. */
    public int commitsCut() {
        return trapped.get();
    }

    /** How many connections are open. */
    public int open() {
        return links.size();
    }

    private int listen(int wanted) throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), wanted));
        listening = socket;
        daemon("accept", () -> accept(socket));
        return socket.getLocalPort();
    }

    private void change(Mode next) {
        lock.lock();
        try {
            if (next == Mode.REFUSE && listening != null) {
                listening.close();
                listening = null;
            } else if (next != Mode.REFUSE && listening == null) {
                listen(port);
            }
            mode = next;
            changed.signalAll();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    /** Waits while the proxy swallows; false once it is closed. */
    private boolean mayFlow(Link link) throws InterruptedException {
        lock.lock();
        try {
            while ((mode == Mode.BLACKHOLE || link.stranded) && !closed) {
                changed.await();
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /** Ends when the listening socket is closed. */
    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                daemon("open", () -> open(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void open(Socket client) {
        try {
            Socket server = new Socket(InetAddress.getLoopbackAddress(), targetPort);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            Link link = new Link(client, server);
            links.add(link);
            daemon("to-server", () -> link.pump(client, server, Trap.BEFORE_COMMIT, COMMIT_ASKED));
            daemon("to-client", () -> link.pump(server, client, Trap.AFTER_COMMIT, COMMIT_DONE));
        } catch (IOException e) {
            reset(client);
        }
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, "cut-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // Closed already.
        }
        try {
            socket.close();
        } catch (IOException e) {
            // There is nothing left to close.
        }
    }

    /** One client's connection and its counterpart. */
    private final class Link {
        private final Socket client;
        private final Socket server;
        private volatile boolean stranded;

        private Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        private boolean reset() {
            boolean open = links.remove(this);
            CutProxy.reset(client);
            CutProxy.reset(server);
            return open;
        }

        /** Ends when either side is closed. */
        private void pump(Socket from, Socket to, Trap armed, byte[] sign) {
            byte[] chunk = new byte[CHUNK_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
                    if (!mayFlow(this)) {
                        return;
                    }
                    if (trap.get() == armed && contains(chunk, count, sign) && trap.compareAndSet(armed, Trap.NONE)) {
                        trapped.incrementAndGet();
                        return;
                    }
                    out.write(chunk, 0, count);
                    out.flush();
                }
            } catch (IOException e) {
                // One side went away; the other goes with it.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                reset();
            }
        }
    }

    private static boolean contains(byte[] chunk, int count, byte[] sign) {
        for (int start = 0; start + sign.length <= count; start++) {
            int i = 0;
            while (i < sign.length && chunk[start + i] == sign[i]) {
                i++;
            }
            if (i == sign.length) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (listening != null) {
                listening.close();
            }
            changed.signalAll();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
        links.forEach(Link::reset);
    }
}
