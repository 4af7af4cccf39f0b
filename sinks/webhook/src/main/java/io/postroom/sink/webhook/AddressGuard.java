package io.postroom.sink.webhook;

import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which addresses may be connected to: public ones, and those that the operator allowed. Immutable.
 *
 * <p>It looks at bytes of addresses only, never at names or spellings, so no notation gets round it. IPv6 is closed unless
 * known to be open: outside 2000::/3 nothing is public, which covers loopback, mapped and translated IPv4, unique local,
 * link-local and multicast addresses at once.
 */
final class AddressGuard {
    /** The addresses that IANA's special-purpose registry does not route globally. */
    private static final List<AddressRange> NOT_PUBLIC = AddressRange.parseAll(
            "0.0.0.0/8", // this network
            "10.0.0.0/8", // private
            "100.64.0.0/10", // carrier-grade NAT
            "127.0.0.0/8", // loopback
            "169.254.0.0/16", // link-local
            "172.16.0.0/12", // private
            "192.0.0.0/24", // protocol assignments
            "192.0.2.0/24", // documentation
            "192.88.99.0/24", // 6to4 relays
            "192.168.0.0/16", // private
            "198.18.0.0/15", // benchmarks
            "198.51.100.0/24", // documentation
            "203.0.113.0/24", // documentation
            "224.0.0.0/4", // multicast
            "240.0.0.0/4", // reserved and broadcast
            "2001::/23", // protocol assignments, Teredo
            "2001:db8::/32", // documentation
            "2002::/16", // 6to4, which hides an IPv4 address
            "3fff::/20"); // documentation

    private static final AddressRange GLOBAL_IPV6 = AddressRange.parse("2000::/3");

    /** Where clouds hand out credentials: closed even inside a range that the operator allowed. */
    private static final List<AddressRange> METADATA = AddressRange.parseAll(
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254");

    private final List<AddressRange> allowed;
    private final boolean tls;

    AddressGuard(List<AddressRange> allowed, boolean tls) {
        this.allowed = List.copyOf(allowed);
        this.tls = tls;
    }

    /** Why this address must not be connected to, or null if it may. */
    @Nullable
    String objection(InetAddress address) {
        String shown = address.getHostAddress();
        if (within(METADATA, address)) {
            return shown + " serves cloud credentials; it cannot be allowed";
        }
        if (within(allowed, address)) {
            return null;
        }
        if (!isPublic(address)) {
            return shown + " is not a public address; allowPrivate opens it if it is meant";
        }
        return tls ? null : shown + " is not in allowPrivate, and only such addresses may be sent to without TLS";
    }

    private static boolean isPublic(InetAddress address) {
        boolean global = address.getAddress().length == 4 || GLOBAL_IPV6.contains(address);
        return global && !within(NOT_PUBLIC, address);
    }

    private static boolean within(List<AddressRange> ranges, InetAddress address) {
        return ranges.stream().anyMatch(range -> range.contains(address));
    }
}
