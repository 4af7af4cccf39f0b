package io.postroom.server.relay;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** A host and a port that a destination is reached at. */
public record Address(String host, int port) {
    private static final int HTTPS = 443;
    private static final int HTTP = 80;

    /** Of {@code kafka-1:9092,kafka-2:9092}; what is none is left out. */
    static List<Address> ofList(String servers) {
        List<Address> addresses = new ArrayList<>();
        for (String server : servers.split(",")) {
            int colon = server.lastIndexOf(':');
            if (colon > 0 && server.substring(colon + 1).strip().matches("\\d{1,5}")) {
                addresses.add(new Address(
                        server.substring(0, colon).strip().replaceAll("^\\[|\\]$", ""),
                        Integer.parseInt(server.substring(colon + 1).strip())));
            }
        }
        return addresses;
    }

    /** Of a URL; none if it has no host. */
    static List<Address> ofUrl(String url) {
        URI uri = URI.create(url);
        if (uri.getHost() == null) {
            return List.of();
        }
        int usual = "http".equals(uri.getScheme()) ? HTTP : HTTPS;
        return List.of(
                new Address(uri.getHost().replaceAll("^\\[|\\]$", ""), uri.getPort() < 0 ? usual : uri.getPort()));
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
