package io.postroom.server.web;

import io.postroom.server.postgres.RoleNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How console and API are served. Immutable. */
public final class WebSettings {
    public static final int PORT = 8642;
    public static final String HOST = "127.0.0.1";

    /** Names that never leave the machine. */
    static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "::1", "[::1]");

    private final String host;
    private final int port;
    private final String basePath;
    private final String environment;
    private final String origin;
    private final boolean https;
    private final boolean plainHttp;
    private final boolean readOnly;
    private final @Nullable Payloads payloads;
    private final Map<String, User> accounts;
    private final List<Role> roles;
    private final @Nullable Proxy proxy;
    private final RoleNames databaseRoles;

    private WebSettings(Builder builder) {
        this.host = builder.host;
        this.port = builder.port;
        this.basePath = builder.basePath;
        this.environment = builder.environment;
        this.origin = builder.origin;
        this.https = builder.https || builder.origin.startsWith("https:");
        this.plainHttp = builder.plainHttp;
        this.readOnly = builder.readOnly;
        this.accounts = Map.copyOf(builder.accounts);
        this.roles = List.copyOf(builder.roles);
        this.proxy = builder.proxy;
        this.databaseRoles = builder.databaseRoles;
        this.payloads = builder.payloads;
    }

    /** For this machine alone. */
    public static WebSettings local(int port) {
        return builder().port(port).build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** What stands against serving it like this, a sentence each. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        if (hasUsers()) {
            if (!isLoopback() && !https && !plainHttp) {
                problems.add("console.address is " + host
                        + ", which others can reach, and without HTTPS whoever listens sees their tokens; put a proxy before it and"
                        + " write console.https: true, or console.plain-http: true if that is meant");
            }
            return problems;
        }
        if (!isLoopback()) {
            problems.add("console.address is " + host
                    + ", which others can reach, and there are neither console.users nor console.proxy; add some, or listen on "
                    + HOST);
        }
        if (!basePath.isEmpty() || https || !origin.isEmpty()) {
            problems.add(
                    (!origin.isEmpty() ? "console.origin" : https ? "console.https" : "console.base-path")
                            + " is for a proxy, through which others come, and there are neither console.users nor console.proxy; add some, or leave it out");
        }
        return problems;
    }

    boolean isLoopback() {
        return LOOPBACK.contains(host.toLowerCase(Locale.ROOT));
    }

    boolean hasUsers() {
        return !accounts.isEmpty() || proxy != null;
    }

    /** To listen on. */
    public String host() {
        return host;
    }

    /** 0 takes any that is free. */
    public int port() {
        return port;
    }

    /** Where a proxy puts it: empty, or {@code /postroom}. */
    public String basePath() {
        return basePath;
    }

    /** A word that every page shows, such as {@code production}; empty: none. */
    public String environment() {
        return environment;
    }

    /** What browsers have before the path, such as {@code https://ops.example.com}; empty: what they say in Host. */
    public String origin() {
        return origin;
    }

    /** Whether browsers come by HTTPS, through a proxy: cookies are then for HTTPS only. */
    public boolean https() {
        return https;
    }

    /** Whether nobody may change anything here. */
    public boolean readOnly() {
        return readOnly;
    }

    /** How much of payloads is shown: all to whoever has started the process, names only to users, unless told otherwise. */
    public Payloads payloads() {
        return payloads(hasUsers() ? Payloads.MASKED : Payloads.SHOWN);
    }

    /** How much of payloads is shown as far as somebody has said it, else what is given here. */
    public Payloads payloads(Payloads unsaid) {
        return payloads == null ? unsaid : payloads;
    }

    /** By the SHA-256 of their tokens, as hexadecimal digits; without any, it is for whoever has the token of the process. */
    public Map<String, User> accounts() {
        return accounts;
    }

    /** Roles with permissions of their own, besides those that every console has. */
    public List<Role> roles() {
        return roles;
    }

    /** Who signs people in before they come here; null: nobody. */
    public @Nullable Proxy proxy() {
        return proxy;
    }

    /** How the roles of the database are called, for whoever examines it. */
    public RoleNames databaseRoles() {
        return databaseRoles;
    }

    /** Whether tokens may pass a network in the clear. */
    public boolean plainHttp() {
        return plainHttp;
    }

    /** Begins with what is for this machine alone. */
    public static final class Builder {
        private String host = HOST;
        private int port = PORT;
        private String basePath = "";
        private String environment = "";
        private String origin = "";
        private boolean https;
        private boolean plainHttp;
        private boolean readOnly;
        private @Nullable Payloads payloads;
        private Map<String, User> accounts = Map.of();
        private List<Role> roles = List.of();
        private @Nullable Proxy proxy;
        private RoleNames databaseRoles = RoleNames.USUAL;

        private Builder() {}

        public Builder host(String host) {
            this.host = host;
            return this;
        }

        public Builder port(int port) {
            this.port = port;
            return this;
        }

        public Builder basePath(String basePath) {
            this.basePath = basePath;
            return this;
        }

        public Builder environment(String environment) {
            this.environment = environment;
            return this;
        }

        public Builder origin(String origin) {
            this.origin = origin;
            return this;
        }

        public Builder https(boolean https) {
            this.https = https;
            return this;
        }

        /** Whether tokens may pass a network in the clear. */
        public Builder plainHttp(boolean plainHttp) {
            this.plainHttp = plainHttp;
            return this;
        }

        public Builder readOnly(boolean readOnly) {
            this.readOnly = readOnly;
            return this;
        }

        public Builder payloads(Payloads payloads) {
            this.payloads = payloads;
            return this;
        }

        public Builder accounts(Map<String, User> accounts) {
            this.accounts = accounts;
            return this;
        }

        public Builder roles(List<Role> roles) {
            this.roles = roles;
            return this;
        }

        public Builder proxy(@Nullable Proxy proxy) {
            this.proxy = proxy;
            return this;
        }

        public Builder databaseRoles(RoleNames databaseRoles) {
            this.databaseRoles = databaseRoles;
            return this;
        }

        /** Settings that may have {@link WebSettings#problems problems}, which whoever reads a file wants all at once. */
        public WebSettings build() {
            return new WebSettings(this);
        }
    }
}
