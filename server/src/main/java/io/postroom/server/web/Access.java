package io.postroom.server.web;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
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
    private final Map<String, User> users;
    private final @Nullable String token;
    private final boolean readOnly;

    private Access(Map<String, User> accounts, boolean readOnly, @Nullable String token) {
        this.readOnly = readOnly;
        this.accounts = new HashMap<>();
        this.users = new HashMap<>();
        accounts.forEach((hash, user) -> {
            User able = able(user);
            this.accounts.put(hash, able);
            this.users.put(user.name(), able);
        });
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
        User local = new User(name.isBlank() ? "console" : name, Role.ADMIN);
        return new Access(Map.of(Gate.hash(token), local), settings.readOnly(), token);
    }

    /** The token of this process; null where there are users. */
    @Nullable
    String token() {
        return token;
    }

    /** Who has a token; nobody if it is wrong. */
    Optional<User> ofToken(String given) {
        return given.length() > TOKEN_LENGTH_MAX
                ? Optional.empty()
                : Optional.ofNullable(accounts.get(Gate.hash(given)));
    }

    /** A user as far as anything can be done here. */
    User able(User user) {
        return readOnly ? new User(user.name(), Role.VIEWER) : user;
    }

    /** Who has a name. */
    Optional<User> named(String name) {
        return Optional.ofNullable(users.get(name));
    }
}
