package io.postroom.sink.webhook;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server that speaks whatever its script says, for peers that keep no rule. */
final class ScriptedServer implements AutoCloseable {
    private static final Pattern LENGTH = Pattern.compile("content-length: (\\d+)");

    /** What to do with one connection. */
    interface Script {
        void run(Connection connection) throws Exception;
    }

    private final ServerSocket listener;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Socket> accepted = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    ScriptedServer(Script script) throws IOException {
        this("127.0.0.1", 0, script);
    }

    ScriptedServer(String address, int port, Script script) throws IOException {
        listener = new ServerSocket(port, 50, InetAddress.getByName(address));
        threads.execute(() -> accept(script));
    }

    /** A server that answers each request on a connection with the same text. */
    static ScriptedServer answering(String response) throws IOException {
        return new ScriptedServer(connection -> {
            while (connection.readRequest()) {
                connection.write(response);
            }
        });
    }

    private void accept(Script script) {
        // Ends when the listener is closed.
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                accepted.add(socket);
                threads.execute(() -> serve(script, socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Script script, Socket socket) {
        try (socket) {
            script.run(new Connection(socket));
        } catch (Exception e) {
            // The client went away, as the tests want it to.
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    String url() {
        return "http://127.0.0.1:" + port() + "/";
    }

    int connections() {
        return accepted.size();
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        listener.close();
        for (Socket socket : accepted) {
            socket.close();
        }
        threads.shutdownNow();
    }

    /** One connection, from the server's side. */
    final class Connection {
        private final Socket socket;
        private final InputStream in;

        private Connection(Socket socket) throws IOException {
            this.socket = socket;
            in = new BufferedInputStream(socket.getInputStream());
        }

        /** Reads a whole request; false if there is none. */
        boolean readRequest() throws IOException {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
                int b = in.read();
                if (b < 0) {
                    return false;
                }
                head.write(b);
            }
            Matcher length = LENGTH.matcher(head.toString(StandardCharsets.ISO_8859_1));
            in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
            return true;
        }

        byte[] readSome(int count) throws IOException {
            return in.readNBytes(count);
        }

        void write(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        }

        /** Does nothing until the server is closed or the time has passed. */
        void pause(long millis) throws InterruptedException {
            closed.await(millis, TimeUnit.MILLISECONDS);
        }

        void hang() throws InterruptedException {
            closed.await();
        }
    }
}
