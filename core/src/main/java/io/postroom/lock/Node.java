package io.postroom.lock;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** This process, as people know it. */
final class Node {
    private static final int HOST_LENGTH_MAX = 150;

    private Node() {}

    /** Host and process id, such as {@code web-3:4711}. */
    static String name() {
        return Named.NAME;
    }

    /** On first use: finding the host's name may take a while. */
    private static final class Named {
        static final String NAME = host() + ":" + ProcessHandle.current().pid();

        private static String host() {
            try {
                String host = InetAddress.getLocalHost().getHostName();
                return host.substring(0, Math.min(host.length(), HOST_LENGTH_MAX));
            } catch (UnknownHostException e) {
                return "unknown";
            }
        }
    }
}
