package io.postroom.server.web;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A proxy that has signed people in and says who they are. Only its own addresses are believed: a header is something that anybody can
 * write.
 *
 * @param groupsHeader has groups, with commas between
 * @param roles by group; the first of them that somebody is in counts
 */
public record Proxy(String userHeader, String groupsHeader, Map<String, Role> roles, List<Network> from) {
    private static final int NAME_LENGTH_MAX = 100;
    private static final int GROUPS_LENGTH_MAX = 8_000;

    public Proxy {
        roles = Collections.unmodifiableMap(new LinkedHashMap<>(roles));
        from = List.copyOf(from);
    }

    /** An address, or those that begin alike. */
    public record Network(String text, InetAddress address, int bits) {
        private static final Pattern FORM = Pattern.compile("([0-9a-fA-F:.]{2,45})(?:/(\\d{1,3}))?");

        public static Network of(String text) {
            Matcher matcher = FORM.matcher(text);
            try {
                if (matcher.matches()
                        && (matcher.group(1).contains(".") || matcher.group(1).contains(":"))) {
                    // Only digits: nothing is asked of a name server.
                    InetAddress address = InetAddress.getByName(matcher.group(1));
                    int all = address.getAddress().length * 8;
                    int bits = matcher.group(2) == null ? all : Integer.parseInt(matcher.group(2));
                    if (bits >= 1 && bits <= all) {
                        return new Network(text, address, bits);
                    }
                }
            } catch (UnknownHostException e) {
                // Said below.
            }
            throw new IllegalArgumentException(
                    "'" + Asked.shown(text) + "' is no address of a proxy; write 10.0.0.7, 10.1.0.0/16 or fd00::7");
        }

        boolean has(InetAddress other) {
            byte[] mine = address.getAddress();
            byte[] its = other.getAddress();
            if (mine.length != its.length) {
                return false;
            }
            int whole = bits / 8;
            int mask = 0xff00 >> bits % 8 & 0xff;
            return Arrays.equals(mine, 0, whole, its, 0, whole)
                    && (bits % 8 == 0 || (mine[whole] & mask) == (its[whole] & mask));
        }
    }

    /** Whether a request from an address may be believed. */
    boolean isAt(String address) {
        try {
            InetAddress given = InetAddress.getByName(address.replaceAll("[\\[\\]]|%.*", ""));
            return from.stream().anyMatch(network -> network.has(given));
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** Whom the headers of a request name. Refuses names that cannot be kept, and those without a role here. */
    User user(String name, @Nullable String groups) {
        if (name.length() > NAME_LENGTH_MAX || name.chars().anyMatch(Character::isISOControl)) {
            throw Refusal.invalid("the name in " + userHeader + " is longer than " + NAME_LENGTH_MAX
                    + " characters, or has some that cannot be shown");
        }
        String given = groups == null ? "" : groups;
        if (given.length() > GROUPS_LENGTH_MAX) {
            throw Refusal.invalid("the groups in " + groupsHeader + " are " + given.length()
                    + " characters, the limit is " + GROUPS_LENGTH_MAX);
        }
        List<String> in = Arrays.stream(given.split(",")).map(String::strip).toList();
        Optional<Role> role = roles.entrySet().stream()
                .filter(each -> in.contains(each.getKey()))
                .map(Map.Entry::getValue)
                .findFirst();
        return new User(
                name,
                role.orElseThrow(() -> new Refusal(
                        403,
                        "request.no-role",
                        "user " + name + " is in no group that has a role here; console.proxy.roles says which have")));
    }
}
