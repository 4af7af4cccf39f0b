package io.postroom.server.doctor;

import io.postroom.doctor.Check;
import io.postroom.doctor.Finding;
import io.postroom.doctor.Fix;
import io.postroom.doctor.Severity;
import io.postroom.server.relay.Address;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Tries whether the destinations of a file can be reached from here: a connection, and nothing more. */
final class DestinationProbe {
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private DestinationProbe() {}

    /** One finding for each subscription or kind of job of which an address takes no connection; an error if none of them does. */
    static List<Finding> of(Map<String, List<Address>> destinations) {
        List<Finding> findings = new ArrayList<>();
        destinations.forEach((owner, addresses) -> {
            List<String> closed = new ArrayList<>();
            for (Address address : addresses) {
                String problem = problem(address);
                if (!problem.isEmpty()) {
                    closed.add(address + " (" + problem + ")");
                }
            }
            if (!closed.isEmpty()) {
                findings.add(new Finding(
                        Check.SINK_UNREACHABLE,
                        closed.size() == addresses.size() ? Severity.ERROR : Severity.WARNING,
                        closed.size() + " of " + addresses.size() + " addresses of " + owner
                                + " take no connection from here within " + PATIENCE.toSeconds() + " s: "
                                + String.join(", ", closed),
                        "check the address in the file, name resolution and firewalls between here and there",
                        Fix.NONE));
            }
        });
        return findings;
    }

    private static String problem(Address address) {
        InetSocketAddress resolved = new InetSocketAddress(address.host(), address.port());
        if (resolved.isUnresolved()) {
            return "the name is not known";
        }
        try (Socket socket = new Socket()) {
            socket.connect(resolved, Math.toIntExact(PATIENCE.toMillis()));
            return "";
        } catch (IOException e) {
            return e.getClass().getSimpleName();
        }
    }
}
