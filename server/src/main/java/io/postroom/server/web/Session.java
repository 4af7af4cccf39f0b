package io.postroom.server.web;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs cookies, and the tokens by which forms prove to be ours. The key lives as long as the process: nothing is stored, and after
 * a restart everybody begins anew. Thread-safe.
 */
final class Session {
    static final Duration LIFETIME = Duration.ofHours(12);

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int VALUE_LENGTH_MAX = 1_000;
    private static final int ENDED_MAX = 10_000;

    private final byte[] key = new byte[32];
    private final Clock clock;
    /** Those that somebody has signed out of, and until when they would have lived. */
    private final Map<String, Instant> ended = new LinkedHashMap<>();

    Session(Clock clock) {
        this.clock = clock;
        RANDOM.nextBytes(key);
    }

    /** What a cookie says: the name of whose it is, and a number that no other cookie has. */
    record Ticket(String name, String nonce) {}

    /** A cookie for somebody; empty for whoever has not signed in. */
    String issue(String name) {
        byte[] nonce = new byte[18];
        RANDOM.nextBytes(nonce);
        long until = clock.instant().plus(LIFETIME).getEpochSecond();
        String whose = Base64.getUrlEncoder().withoutPadding().encodeToString(name.getBytes(StandardCharsets.UTF_8));
        String said = whose + "." + until + "." + Base64.getUrlEncoder().encodeToString(nonce);
        return said + "." + sign("ticket", said);
    }

    Optional<Ticket> read(String cookie) {
        String[] parts = cookie.split("\\.", -1);
        if (cookie.length() > VALUE_LENGTH_MAX || parts.length != 4 || !parts[1].matches("\\d{1,15}")) {
            return Optional.empty();
        }
        String said = parts[0] + "." + parts[1] + "." + parts[2];
        boolean isOurs = isSame(sign("ticket", said), parts[3]);
        boolean isAlive = Long.parseLong(parts[1]) > clock.instant().getEpochSecond();
        if (!isOurs || !isAlive || isEnded(parts[2])) {
            return Optional.empty();
        }
        return Optional.of(
                new Ticket(new String(Base64.getUrlDecoder().decode(parts[0]), StandardCharsets.UTF_8), parts[2]));
    }

    /** Lets nobody in with this ticket any more, wherever its cookie was copied to. */
    synchronized void end(Ticket ticket) {
        ended.put(ticket.nonce(), clock.instant().plus(LIFETIME));
        ended.values().removeIf(until -> until.isBefore(clock.instant()));
        if (ended.size() > ENDED_MAX) {
            ended.remove(ended.keySet().iterator().next());
        }
    }

    private synchronized boolean isEnded(String nonce) {
        return ended.containsKey(nonce);
    }

    /** What a form of this session carries. */
    String formToken(Ticket ticket) {
        return sign("form", ticket.nonce());
    }

    boolean isFormToken(Ticket ticket, String token) {
        return isSame(formToken(ticket), token);
    }

    private String sign(String purpose, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            byte[] signature = mac.doFinal((purpose + ":" + text).getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(signature);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }

    private static boolean isSame(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
