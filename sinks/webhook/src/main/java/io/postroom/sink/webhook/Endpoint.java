package io.postroom.sink.webhook;

import java.net.IDN;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a webhook goes: the parts of its URL, each in one spelling.
 *
 * <p>Paths and queries often hold a token, so everything that is shown is the {@link #origin} alone.
 */
record Endpoint(boolean tls, String host, @Nullable InetAddress literal, int port, String target) {
    static final int URL_LENGTH_MAX = 2_048;

    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern NUMERIC_LABEL = Pattern.compile("\\d+|0x[0-9a-f]*");
    private static final Pattern VISIBLE_ASCII = Pattern.compile("[\\x21-\\x7e]+");
    private static final int HOST_LENGTH_MAX = 253;

    /** Reads a URL; throws an {@link IllegalArgumentException} that says what is wrong without repeating the URL. */
    static Endpoint parse(String url) {
        URI uri = uri(url);
        boolean tls = tls(uri);
        if (uri.getRawUserInfo() != null
                || (uri.getRawAuthority() != null && uri.getRawAuthority().contains("@"))) {
            throw invalid("holds a user or password; send credentials with header(\"authorization\", …)");
        }
        if (uri.getRawFragment() != null) {
            throw invalid("has a fragment, which no server sees; leave out what follows #");
        }
        if (uri.getHost() == null) {
            throw invalid("has no valid host; write a name, an address like 192.0.2.1 or [2001:db8::1]");
        }
        String host = host(uri.getHost());
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String target = uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery();
        return new Endpoint(tls, host, literal(host), port(uri, tls), target);
    }

    private static URI uri(String url) {
        if (url.length() > URL_LENGTH_MAX) {
            throw invalid("has " + url.length() + " characters, the limit is " + URL_LENGTH_MAX);
        }
        if (!VISIBLE_ASCII.matcher(url).matches()) {
            throw invalid("is empty or holds a space, a control character or a letter outside ASCII" + asciiHint(url));
        }
        try {
            return new URI(url);
        } catch (URISyntaxException e) {
            throw invalid("is not a URL: " + e.getReason() + " at character " + (e.getIndex() + 1));
        }
    }

    /** An international name has one honest spelling, its ASCII form; letters that only look alike show there. */
    private static String asciiHint(String url) {
        int start = url.indexOf("://") + 3;
        String host = url.substring(Math.min(start, url.length())).split("[/?#:@\\\\]", 2)[0];
        try {
            String ascii = IDN.toASCII(host);
            return ascii.equals(host) || !VISIBLE_ASCII.matcher(ascii).matches() ? "" : "; write the host as " + ascii;
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static boolean tls(URI uri) {
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (scheme.equals("https")) {
            return true;
        }
        if (scheme.equals("http")) {
            return false;
        }
        throw invalid((scheme.isEmpty() ? "has no scheme" : "has the scheme " + scheme) + "; only https is sent to");
    }

    private static String host(String given) {
        String host = given.toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            return host;
        }
        // The root's dot changes neither the address nor the name in a certificate.
        host = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        String[] labels = host.split("\\.", -1);
        for (String label : labels) {
            if (!LABEL.matcher(label).matches()) {
                throw invalid("has a host that is not a valid name");
            }
        }
        if (host.length() > HOST_LENGTH_MAX) {
            throw invalid("has a host of " + host.length() + " characters, the limit is " + HOST_LENGTH_MAX);
        }
        // 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1 to some parsers and something else to others.
        if (NUMERIC_LABEL.matcher(labels[labels.length - 1]).matches() && !AddressRange.isIpv4(host)) {
            throw invalid("has an address in an ambiguous form; write four decimal numbers without leading zeros");
        }
        return host;
    }

    private static @Nullable InetAddress literal(String host) {
        if (host.startsWith("[")) {
            try {
                return AddressRange.literal(host.substring(1, host.length() - 1));
            } catch (IllegalArgumentException e) {
                throw invalid(
                        "has no valid IPv6 address between its brackets; write it as [2001:db8::1], without a zone");
            }
        }
        return AddressRange.isIpv4(host) ? AddressRange.literal(host) : null;
    }

    private static int port(URI uri, boolean tls) {
        int port = uri.getPort() == -1 ? (tls ? 443 : 80) : uri.getPort();
        if (port < 1 || port > 65_535) {
            throw invalid("has port " + port + "; ports go from 1 to 65535");
        }
        return port;
    }

    private static IllegalArgumentException invalid(String problem) {
        return new IllegalArgumentException("url " + problem);
    }

    /** Host and port as the Host header has them. */
    String authority() {
        return port == (tls ? 443 : 80) ? host : host + ":" + port;
    }

    /** Scheme, host and port: all of the URL that may be shown. */
    String origin() {
        return (tls ? "https://" : "http://") + authority();
    }

    @Override
    public String toString() {
        return origin();
    }
}
