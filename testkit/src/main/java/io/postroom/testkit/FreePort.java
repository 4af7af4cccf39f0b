package io.postroom.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that tests stop and start again.
 *
 * <p>They are below the range from which systems give ports to clients. A client that tries to reach a stopped server could otherwise be
 * given the server's own port: it would then talk to itself, and the server would find its port taken when it starts again.
 */
public final class FreePort {
    private static final int LOWEST = 10_000;
    private static final int HIGHEST = 32_000;
    private static final int ATTEMPTS_MAX = 1000;

    private FreePort() {}

    /** A port of the loopback address that nobody listens on. */
    public static int find() {
        for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (IOException taken) {
                // The next one may be free.
            }
        }
        throw new IllegalStateException("could not find a free port between " + LOWEST + " and " + HIGHEST + " in "
                + ATTEMPTS_MAX + " attempts; end some of the servers on this machine");
    }
}
