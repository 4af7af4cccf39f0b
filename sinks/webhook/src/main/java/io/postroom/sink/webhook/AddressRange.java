package io.postroom.sink.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A block of IP addresses, as in {@code 10.0.0.0/8}. Immutable. */
final class AddressRange {
    /** Four decimal numbers without leading zeros: the only way to write an IPv4 address that no two parsers read differently. */
    private static final Pattern IPV4 = Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}");

    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    private final byte[] network;
    private final int prefixBits;

    private AddressRange(byte[] network, int prefixBits) {
        this.network = network;
        this.prefixBits = prefixBits;
    }

    /** Reads {@code 10.0.0.0/8}, {@code fd00::/8} or a single address; never asks a name server. */
    static AddressRange parse(String cidr) {
        int slash = cidr.indexOf('/');
        byte[] network = literal(slash < 0 ? cidr : cidr.substring(0, slash)).getAddress();
        int bits = network.length * 8;
        int prefixBits = slash < 0 ? bits : prefixBits(cidr, cidr.substring(slash + 1), bits);
        AddressRange range = new AddressRange(network, prefixBits);
        if (!Arrays.equals(network, range.masked(network))) {
            throw new IllegalArgumentException(
                    "range " + cidr + " has bits set behind its prefix; did you mean " + range.normalised() + "?");
        }
        return range;
    }

    static List<AddressRange> parseAll(String... cidrs) {
        return Stream.of(cidrs).map(AddressRange::parse).toList();
    }

    /** Reads an address in the one form that is not ambiguous; never asks a name server. */
    static InetAddress literal(String text) {
        if (!isIpv4(text) && !IPV6.matcher(text).matches()) {
            throw notAnAddress(text);
        }
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw notAnAddress(text);
        }
    }

    static boolean isIpv4(String text) {
        return IPV4.matcher(text).matches();
    }

    private static IllegalArgumentException notAnAddress(String text) {
        String shown = text.length() > 60 ? text.substring(0, 60) + "…" : text;
        return new IllegalArgumentException("\"" + shown.replaceAll("[^\\x20-\\x7e…]", "?")
                + "\" is not an address; write it as 192.0.2.1 or 2001:db8::1");
    }

    private static int prefixBits(String cidr, String text, int bits) {
        int prefixBits = text.matches("\\d{1,3}") ? Integer.parseInt(text) : -1;
        if (prefixBits < 0 || prefixBits > bits) {
            throw new IllegalArgumentException("range " + cidr + " has a prefix outside 0 to " + bits);
        }
        return prefixBits;
    }

    boolean contains(InetAddress address) {
        byte[] bytes = address.getAddress();
        return bytes.length == network.length && Arrays.equals(network, masked(bytes));
    }

    int prefixBits() {
        return prefixBits;
    }

    boolean isIpv4() {
        return network.length == 4;
    }

    private byte[] masked(byte[] address) {
        byte[] result = address.clone();
        for (int n = 0; n < result.length; n++) {
            int kept = Math.max(0, Math.min(8, prefixBits - 8 * n));
            result[n] &= (byte) (0xFF << (8 - kept));
        }
        return result;
    }

    private AddressRange normalised() {
        return new AddressRange(masked(network), prefixBits);
    }

    @Override
    public String toString() {
        try {
            return InetAddress.getByAddress(network).getHostAddress() + "/" + prefixBits;
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }
}
