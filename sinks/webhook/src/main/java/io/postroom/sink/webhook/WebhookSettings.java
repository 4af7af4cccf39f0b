package io.postroom.sink.webhook;

import java.net.URI;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The settings of a sink after they were read and found good. */
record WebhookSettings(Endpoint endpoint, List<SigningKey> keys, AddressGuard guard, SSLSocketFactory tls) {
    static final int CONCURRENCY_MAX = 256;
    static final int WAITING_MAX = 100_000;
    static final int HEADERS_MAX = 32;
    static final int HEADER_LENGTH_MAX = 4_096;
    static final Duration TIMEOUT_MAX = Duration.ofMinutes(5);

    /** The widest range that may be allowed: 10.0.0.0/8 and fc00::/7 are as wide as private networks get. */
    private static final int IPV4_PREFIX_MIN = 8;

    private static final int IPV6_PREFIX_MIN = 7;

    private static final Pattern HEADER_NAME = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern HEADER_VALUE = Pattern.compile("[\\x20-\\x7e]*");
    private static final Set<String> OWN_PREFIXES = Set.of("webhook-", "ce-", "postroom-");
    private static final Set<String> OWN_HEADERS = Set.of(
            "host",
            "content-length",
            "content-type",
            "transfer-encoding",
            "connection",
            "expect",
            "upgrade",
            "te",
            "trailer",
            "keep-alive",
            "proxy-connection",
            "user-agent",
            "accept");

    static WebhookSettings check(WebhookSink.Builder given) {
        List<String> problems = new ArrayList<>();
        Endpoint endpoint = read(problems, () -> Endpoint.parse(given.url));
        List<AddressRange> allowed = allowed(given, problems);
        AddressGuard guard = new AddressGuard(allowed, endpoint == null || endpoint.tls());
        checkScheme(given, endpoint, problems);
        if (endpoint != null && endpoint.literal() != null) {
            String objection = guard.objection(endpoint.literal());
            if (objection != null) {
                problems.add("url has an address that cannot be sent to: " + objection);
            }
        }
        List<SigningKey> keys = keys(given, problems);
        checkHeaders(given, problems);
        checkBody(given, problems);
        checkLimits(given, problems);
        SSLSocketFactory tls = read(problems, () -> tls(given.trustStore));
        if (!problems.isEmpty() || endpoint == null || tls == null) {
            throw new InvalidWebhookException(problems);
        }
        return new WebhookSettings(endpoint, keys, guard, tls);
    }

    private static <T> @Nullable T read(List<String> problems, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (IllegalArgumentException e) {
            problems.add(String.valueOf(e.getMessage()));
            return null;
        }
    }

    private static void checkScheme(WebhookSink.Builder given, @Nullable Endpoint endpoint, List<String> problems) {
        if (endpoint == null || endpoint.tls()) {
            return;
        }
        if (!given.allowHttp) {
            problems.add(
                    "url has the scheme http; use https, or allowHttp with allowPrivate for an endpoint of your own");
        } else if (given.allowedRanges.isEmpty()) {
            problems.add("allowHttp is set without allowPrivate; name the addresses that may be sent to without TLS");
        }
    }

    private static List<AddressRange> allowed(WebhookSink.Builder given, List<String> problems) {
        List<AddressRange> ranges = new ArrayList<>();
        for (String text : given.allowedRanges) {
            AddressRange range = read(problems, () -> AddressRange.parse(text));
            if (range == null) {
                continue;
            }
            int prefixMin = range.isIpv4() ? IPV4_PREFIX_MIN : IPV6_PREFIX_MIN;
            if (range.prefixBits() < prefixMin) {
                problems.add("allowPrivate range " + range + " is too wide; the widest is /" + prefixMin);
            }
            ranges.add(range);
        }
        return ranges;
    }

    private static List<SigningKey> keys(WebhookSink.Builder given, List<String> problems) {
        List<SigningKey> keys = new ArrayList<>();
        for (String text : given.secrets) {
            SigningKey key = read(problems, () -> SigningKey.parse(text));
            if (key != null && keys.stream().anyMatch(key::sameAs)) {
                problems.add("secret is given twice");
            } else if (key != null) {
                keys.add(key);
            }
        }
        if (given.secrets.isEmpty()) {
            problems.add("secret is missing; a webhook is always signed");
        }
        if (given.secrets.size() > SigningKeys.ACTIVE_MAX) {
            problems.add(given.secrets.size() + " secrets are given, the limit is " + SigningKeys.ACTIVE_MAX);
        }
        return keys;
    }

    private static void checkHeaders(WebhookSink.Builder given, List<String> problems) {
        if (given.headers.size() > HEADERS_MAX) {
            problems.add(given.headers.size() + " headers are given, the limit is " + HEADERS_MAX);
        }
        given.headers.forEach((name, value) -> {
            if (!HEADER_NAME.matcher(name).matches()) {
                problems.add("header name \"" + Excerpt.of(name) + "\" holds a character that no header name may hold");
            } else if (OWN_HEADERS.contains(name) || OWN_PREFIXES.stream().anyMatch(name::startsWith)) {
                problems.add("header " + name + " is set by the sink itself");
            } else if (!HEADER_VALUE.matcher(value).matches() || value.length() > HEADER_LENGTH_MAX) {
                problems.add("header " + name + " has a value that is not printable ASCII of at most "
                        + HEADER_LENGTH_MAX + " characters");
            }
        });
    }

    private static void checkBody(WebhookSink.Builder given, List<String> problems) {
        if (given.body instanceof Body.CloudEvent event) {
            try {
                if (new URI(event.source()).toString().isEmpty()) {
                    problems.add("cloudEvents source is empty; give a URI or a path such as /orders");
                }
            } catch (URISyntaxException e) {
                problems.add("cloudEvents source is not a URI or a path: " + e.getReason());
            }
        }
    }

    private static void checkLimits(WebhookSink.Builder given, List<String> problems) {
        checkTimeout("connectTimeout", given.connectTimeout, TIMEOUT_MAX, problems);
        checkTimeout("attemptTimeout", given.attemptTimeout, TIMEOUT_MAX, problems);
        checkTimeout("closeTimeout", given.closeTimeout, TIMEOUT_MAX, problems);
        checkTimeout("retryAfterMax", given.retryAfterMax, Duration.ofDays(1), problems);
        checkTimeout("rotationWindow", given.rotationWindow, Duration.ofDays(90), problems);
        checkCount("concurrency", given.concurrency, CONCURRENCY_MAX, problems);
        checkCount("waitingMax", given.waitingMax, WAITING_MAX, problems);
    }

    private static void checkTimeout(String name, Duration value, Duration limit, List<String> problems) {
        if (value.toMillis() < 1 || value.compareTo(limit) > 0) {
            problems.add(name + " is " + value + "; it goes from a millisecond to " + limit);
        }
    }

    private static void checkCount(String name, int value, int limit, List<String> problems) {
        if (value < 1 || value > limit) {
            problems.add(name + " is " + value + "; it goes from 1 to " + limit);
        }
    }

    private static SSLSocketFactory tls(@Nullable KeyStore trustStore) {
        try {
            if (trustStore == null) {
                return SSLContext.getDefault().getSocketFactory();
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trustStore);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "trustStore cannot be used: " + e.getClass().getSimpleName());
        }
    }
}
