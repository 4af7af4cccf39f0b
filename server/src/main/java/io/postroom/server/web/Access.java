package io.postroom.server.web;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who may come in: the users of the settings; without any, whoever has the token that was made when the process started. To be on the
 * same machine is not enough: other people and programs are there too.
 */
final class Access {
    private static final int TOKEN_LENGTH_MAX = 200;
    private static final int TOKEN_BYTES = 24;

    private final Map<String, User> accounts;
    private final boolean readOnly;
    private final @Nullable String token;

    private Access(Map<String, User> accounts, boolean readOnly, @Nullable String token) {
        this.accounts = accounts;
        this.readOnly = readOnly;
        this.token = token;
    }

    static Access of(WebSettings settings) {
        if (settings.hasUsers()) {
            return new Access(settings.accounts(), settings.readOnly(), null);
        }
        byte[] random = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(random);
        String token = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        String name = System.getProperty("user.name", "");
        User local = new User(name.isBlank() ? "console" : name, Role.OPERATOR);
        return new Access(Map.of(Gate.hash(token), local), settings.readOnly(), token);
    }

    /** The token of this process; null where there are users. */
    @Nullable
    String token() {
        return token;
    }

    /** The account of a token; nothing if nobody has it. */
    Optional<String> account(String given) {
        String hash = Gate.hash(given);
        return given.length() <= TOKEN_LENGTH_MAX && accounts.containsKey(hash) ? Optional.of(hash) : Optional.empty();
    }

    /** Whose account it is. */
    Optional<User> user(String account) {
        return Optional.ofNullable(accounts.get(account))
                .map(user -> readOnly ? new User(user.name(), Role.VIEWER) : user);
    }
}
