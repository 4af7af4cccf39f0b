package io.postroom.idempotency.http;

import io.postroom.PostroomException;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.CanonicalHash;
import io.postroom.idempotency.Command;
import io.postroom.idempotency.Idempotency;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.KeyPolicy;
import io.postroom.idempotency.Outcome;
import io.postroom.idempotency.Procedure;
import io.postroom.idempotency.Request;
import io.postroom.postgres.Database;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one route whose requests are answered once. An adapter for a server is thin around it.
 *
 * <p>A request that is refused here has changed nothing. Safe for use by many threads.
 */
public final class KeyedRoute {
    public static final int REQUEST_BYTES_MAX = 1_048_576;

    /** The draft that the header comes from; a link of your own says more about your API. */
    public static final URI DOCUMENTATION =
            URI.create("https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07");

    /** What a replay repeats unless told otherwise. */
    public static final Set<String> STORED_HEADERS = Set.of(
            "Content-Type", "Content-Language", "Content-Disposition", "Location", "ETag", "Last-Modified", "Link");

    /** Belongs to the bytes, whatever else a route stores: without it they cannot be read. */
    private static final String CONTENT_ENCODING = "Content-Encoding";

    private static final Set<String> METHODS = Set.of("POST", "PUT", "PATCH", "DELETE");
    private static final String ROLLED_BACK = "what was done is rolled back";
    private static final String STEPS_STAY =
            "the steps that are done stay done, and the same is asked for again when the answer is smaller";
    private static final Set<String> NEVER_STORED = Set.of("set-cookie", "set-cookie2");

    private final Database database;
    private final Idempotency idempotency;
    private final String scope;
    private final boolean required;
    private final Dialect dialect;
    private final KeyPolicy policy;
    private final Set<String> methods;
    private final Set<String> storedHeaders;
    private final int requestBytesMax;
    private final URI documentation;
    private final Function<KeyedRequest, @Nullable String> input;

    private KeyedRoute(Builder builder) {
        this.database = builder.database;
        this.idempotency = builder.idempotency;
        this.scope = builder.scope;
        this.required = builder.required;
        this.dialect = builder.dialect;
        this.policy = builder.policy;
        this.methods = Set.copyOf(builder.methods);
        Set<String> headers = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        headers.addAll(builder.storedHeaders);
        headers.add(CONTENT_ENCODING);
        this.storedHeaders = Collections.unmodifiableSet(headers);
        this.input = builder.input;
        this.requestBytesMax = builder.requestBytesMax;
        this.documentation = builder.documentation;
    }

    /**
     * Begins the rules of a route.
     *
     * @param scope what is asked for there, such as {@code order.create}; keys of different scopes never meet
     */
    public static Builder builder(Database database, Idempotency idempotency, String scope) {
        return new Builder(database, idempotency, scope);
    }

    public String scope() {
        return scope;
    }

    /** Whether a request with this method is answered once; with others, such as GET, a key is ignored. */
    public boolean isKeyed(String method) {
        return methods.contains(method.toUpperCase(Locale.ROOT));
    }

    /** The headers of an answer that a replay repeats. */
    public Set<String> storedHeaders() {
        return storedHeaders;
    }

    /**
     * Does a command once, in one transaction with its answer. What it throws is thrown again; then nothing has happened. Where no key is
     * required and none was sent, it is done in a transaction all the same.
     */
    public <E extends Exception> Reply once(KeyedRequest request, Command<E> command) throws E {
        if (!required && request.keyFields().isEmpty()) {
            return unkeyed(command);
        }
        return answered(request, any -> null, ROLLED_BACK, keyed -> idempotency.once(keyed, policy, command));
    }

    /**
     * Does a procedure once, in steps. What it throws is thrown again; whoever asks next goes on after the last step. Without a key there
     * are no steps: one is required here in any case. If what is to be answered cannot be stored, the steps stay done and the key runs.
     */
    public <E extends Exception> Reply steps(KeyedRequest request, Procedure<E> procedure) throws E {
        return answered(request, input, STEPS_STAY, keyed -> idempotency.steps(keyed, policy, procedure));
    }

    /** Reads a body whole; nothing if it is larger than the route allows, then {@link #tooLarge} is the reply. */
    public Optional<byte[]> read(InputStream body) throws IOException {
        byte[] bytes = body.readNBytes(requestBytesMax + 1);
        return bytes.length > requestBytesMax ? Optional.empty() : Optional.of(bytes);
    }

    /** The reply to a request whose body is larger than the route allows. */
    public Reply tooLarge() {
        idempotency.countTooLarge(scope);
        return problem(new Problem(
                413,
                "Content is too large",
                "idempotency.request-too-large",
                "The body is larger than " + requestBytesMax + " bytes; send less."));
    }

    /** The reply to a request whose body is larger than the server allows, whatever the route does. */
    public Reply tooLargeForTheServer() {
        idempotency.countTooLarge(scope);
        return problem(new Problem(
                413,
                "Content is too large",
                "idempotency.request-too-large",
                "The body is larger than this server allows; send less."));
    }

    /** The reply to a request whose text is in a charset that this server does not have. */
    public Reply charsetUnknown() {
        idempotency.countInvalid(scope);
        return problem(new Problem(
                400,
                "Charset is not known",
                "idempotency.charset-unknown",
                "The charset of Content-Type is not known here; send UTF-8."));
    }

    @FunctionalInterface
    private interface Making<E extends Exception> {
        Reply reply() throws E;
    }

    @FunctionalInterface
    private interface Doing<E extends Exception> {
        Outcome with(Request request) throws E;
    }

    private <E extends Exception> Reply answered(
            KeyedRequest request, Function<KeyedRequest, @Nullable String> input, String afterwards, Doing<E> doing)
            throws E {
        String key;
        byte[] hash;
        String kept;
        try {
            Optional<String> read = KeyHeader.read(request.keyFields());
            if (read.isEmpty()) {
                return missing();
            }
            key = read.get();
            hash = CanonicalHash.ofRequest(
                    request.method(),
                    request.target(),
                    CanonicalHash.ofBody(request.contentType(), request.body()),
                    request.principal());
            // After the checks: whoever parses a body here may rely on it.
            kept = input.apply(request);
        } catch (PostroomException e) {
            return malformed(e);
        }
        if (kept != null && (kept.length() > Request.INPUT_LENGTH_MAX || kept.indexOf('\0') >= 0)) {
            return unkeepable(kept);
        }
        Request keyed = new Request(new IdempotencyKey(request.tenant(), scope, key), hash, kept);
        return storable(afterwards, () -> reply(doing.with(keyed)));
    }

    /** What cannot be stored is not sent either, and the client is told what became of the rest. */
    private <E extends Exception> Reply storable(String afterwards, Making<E> making) throws E {
        try {
            return making.reply();
        } catch (PostroomException e) {
            if (!e.code().equals("idempotency.answer-invalid")) {
                throw e;
            }
            return problem(new Problem(500, "Answer cannot be stored", e.code(), e.getMessage() + "; " + afterwards));
        }
    }

    /** Without a key there is still one transaction, and a failure leaves nothing. */
    private <E extends Exception> Reply unkeyed(Command<E> command) throws E {
        idempotency.countUnkeyed(scope);
        return storable(ROLLED_BACK, () -> {
            try {
                return Reply.executed(database.transact(tx -> {
                    Answer answer = Undone.carried(() -> command.run(tx));
                    if (answer.isFailure()) {
                        throw new Undone(answer, null);
                    }
                    return answer;
                }));
            } catch (Undone e) {
                return Reply.executed(e.<E>answer());
            }
        });
    }

    private Reply reply(Outcome outcome) {
        if (outcome instanceof Outcome.Executed executed) {
            return Reply.executed(executed.given());
        }
        if (outcome instanceof Outcome.Replayed replayed) {
            return Reply.replayed(replayed.given());
        }
        if (outcome instanceof Outcome.Running running) {
            return problem(
                    new Problem(
                            dialect.running(),
                            "A request is outstanding for this Idempotency-Key",
                            "idempotency.in-progress",
                            "The first request with this key is not finished; send the same again later."),
                    Map.of("Retry-After", seconds(running.retryAfter())));
        }
        return problem(new Problem(
                dialect.mismatch(),
                "Idempotency-Key is already used",
                "idempotency.key-reused",
                "This key was used for another request; send a key of its own with each request."));
    }

    private static String seconds(Duration duration) {
        return Long.toString(Math.max(1, duration.plusNanos(999_999_999).toSeconds()));
    }

    private Reply missing() {
        idempotency.countMissing(scope);
        return problem(
                new Problem(
                        400,
                        "Idempotency-Key is missing",
                        "idempotency.key-missing",
                        "Send a header Idempotency-Key with a new value, such as a UUID, and the same value when you repeat this request."));
    }

    private Reply malformed(PostroomException e) {
        idempotency.countInvalid(scope);
        boolean body = e.code().startsWith("idempotency.body-");
        return problem(new Problem(
                400, body ? "Request body is not valid" : "Idempotency-Key is not valid", e.code(), e.getMessage()));
    }

    /** What a completer must know of the request cannot be kept; without it nobody but the client could go on. */
    private Reply unkeepable(String kept) {
        if (kept.length() > Request.INPUT_LENGTH_MAX) {
            idempotency.countTooLarge(scope);
            return problem(new Problem(
                    413,
                    "Content is too large",
                    "idempotency.request-too-large",
                    "What must be kept of this request is " + kept.length() + " characters, the limit is "
                            + Request.INPUT_LENGTH_MAX + "; send less."));
        }
        idempotency.countInvalid(scope);
        return problem(new Problem(
                400,
                "Request body is not valid",
                "idempotency.body-nul",
                "The body has the character U+0000, which cannot be kept; leave it out."));
    }

    private Reply problem(Problem problem) {
        return problem(problem, Map.of());
    }

    private Reply problem(Problem problem, Map<String, String> headers) {
        return problem.reply(documentation, headers);
    }

    /** An answer from what a handler has made; headers that are not to be stored are left out. */
    public Answer answer(int status, Map<String, String> headers, byte[] body) {
        Map<String, String> stored = new LinkedHashMap<>();
        headers.forEach((name, value) -> {
            if (storedHeaders.stream().anyMatch(name::equalsIgnoreCase)) {
                stored.put(name, value);
            }
        });
        return new Answer(status, stored, body);
    }

    /** Collects what differs from the defaults. For one thread. */
    public static final class Builder {
        private final Database database;
        private final Idempotency idempotency;
        private final String scope;
        private boolean required = true;
        private Dialect dialect = Dialect.SEEDS;
        private KeyPolicy policy = KeyPolicy.STANDARD;
        private Set<String> methods = METHODS;
        private Set<String> storedHeaders = STORED_HEADERS;
        private int requestBytesMax = REQUEST_BYTES_MAX;
        private URI documentation = DOCUMENTATION;
        private Function<KeyedRequest, @Nullable String> input = request -> null;

        private Builder(Database database, Idempotency idempotency, String scope) {
            this.database = Objects.requireNonNull(database, "database");
            this.idempotency = Objects.requireNonNull(idempotency, "idempotency");
            this.scope = Objects.requireNonNull(scope, "scope");
        }

        /** Whether a request without a key is refused; it is unless told otherwise, and in steps in any case. */
        public Builder required(boolean required) {
            this.required = required;
            return this;
        }

        /** Which statuses refusals have. */
        public Builder dialect(Dialect dialect) {
            this.dialect = dialect;
            return this;
        }

        /** Expiry, failures, patience and lease. */
        public Builder policy(KeyPolicy policy) {
            this.policy = policy;
            return this;
        }

        /** Whose keys count; POST, PUT, PATCH and DELETE unless given. */
        public Builder methods(String... methods) {
            this.methods = Set.of(methods);
            return this;
        }

        /**
         * In steps: what is kept of a request until it is answered, for a completer to go on with, such as {@code KeyedRequest::text}; null or
         * unset means nothing, then only its client can go on. It sees requests whose key and body are well formed. What is longer than
         * {@link Request#INPUT_LENGTH_MAX} is answered with 413: keep what is larger in a table of your own, and its id here.
         */
        public Builder input(Function<KeyedRequest, @Nullable String> input) {
            this.input = input;
            return this;
        }

        /** Which headers of an answer a replay repeats; Content-Encoding always. */
        public Builder storedHeaders(String... names) {
            this.storedHeaders = Set.of(names);
            return this;
        }

        /** How large a request's body may be; it is held in memory. */
        public Builder requestBytesMax(int requestBytesMax) {
            this.requestBytesMax = requestBytesMax;
            return this;
        }

        /** A page that tells clients of this API how to send keys. */
        public Builder documentation(URI documentation) {
            this.documentation = documentation;
            return this;
        }

        /** Reports every problem at once. */
        public KeyedRoute build() {
            List<String> problems = new ArrayList<>();
            try {
                IdempotencyKey.of(scope, "any");
            } catch (PostroomException e) {
                problems.add(e.getMessage());
            }
            if (requestBytesMax < 0 || requestBytesMax == Integer.MAX_VALUE) {
                problems.add(
                        "requestBytesMax is " + requestBytesMax + ", the range is 0 to " + (Integer.MAX_VALUE - 1));
            }
            Set<String> unknown = new TreeSet<>(methods);
            unknown.removeAll(METHODS);
            if (!unknown.isEmpty()) {
                problems.add("methods are " + methods + ", of which " + unknown + " change nothing; choose among "
                        + new TreeSet<>(METHODS));
            }
            storedHeaders.stream()
                    .filter(name -> NEVER_STORED.contains(name.toLowerCase(Locale.ROOT)))
                    .forEach(name -> problems.add("header " + name + " is for one response only and is never stored"));
            if (!problems.isEmpty()) {
                throw new PostroomException(
                        "idempotency.route-invalid", "could not use the route: " + String.join("; ", problems));
            }
            return new KeyedRoute(this);
        }
    }
}
