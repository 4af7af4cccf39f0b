package io.postroom.sink.kafka;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Stands before a broker and passes everything on but requests of one kind, which are never answered. */
final class DeafProxy implements AutoCloseable {
    /** What a producer asks for before it sends its first record. */
    static final short INIT_PRODUCER_ID = 22;

    private final ServerSocket listener;
    private final short unheard;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private volatile int brokerPort;

    DeafProxy(short unheard) throws IOException {
        this.unheard = unheard;
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    int port() {
        return listener.getLocalPort();
    }

    void passTo(int brokerPort) {
        this.brokerPort = brokerPort;
        threads.execute(this::accept);
    }

    private void accept() {
        // Ends when the listener is closed.
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket broker = new Socket(InetAddress.getLoopbackAddress(), brokerPort);
                sockets.addAll(List.of(client, broker));
                threads.execute(() -> passRequests(client, broker));
                threads.execute(() -> passAnswers(client, broker));
            } catch (IOException e) {
                return;
            }
        }
    }

    /** A request is its length, the number of its kind, and the rest. */
    private void passRequests(Socket client, Socket broker) {
        try (client;
                broker) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(broker.getOutputStream());
            while (true) {
                byte[] request = in.readNBytes(in.readInt());
                if ((request[0] << 8 | request[1]) != unheard) {
                    out.writeInt(request.length);
                    out.write(request);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // One of the two went away, and so does the other.
        }
    }

    private static void passAnswers(Socket client, Socket broker) {
        try (InputStream in = broker.getInputStream()) {
            in.transferTo(client.getOutputStream());
        } catch (IOException e) {
            // The same.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.shutdownNow();
    }
}
