package io.postroom.message;

import io.postroom.PostroomException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Turns old versions of payloads into the newest when a message is read. What is stored never changes.
 *
 * <p>An event type has a chain of steps, each from one version to the next, and a newest version: the chain's end, or one that is
 * declared. A message of such a type is read in that version or not at all. An event type that nobody has registered is read as it
 * is. Immutable, and safe for use by many threads if the upcasters are.
 */
public final class Upcasters {
    public static final int EVENT_TYPES_MAX = 10_000;
    /** Of one event type. */
    public static final int STEPS_MAX = 1_000;

    /** Reads every message as it is. */
    public static final Upcasters NONE = new Upcasters(Map.of());

    private final Map<String, UpcastChain> chains;

    private Upcasters(Map<String, UpcastChain> chains) {
        this.chains = Map.copyOf(chains);
    }

    public static Builder builder() {
        return new Builder();
    }

    public boolean isEmpty() {
        return chains.isEmpty();
    }

    /** The message in the newest version of its event type, or why there is none. Never throws because of the message. */
    public Reading read(Message message) {
        UpcastChain chain = chains.isEmpty() ? null : chains.get(message.eventType());
        return chain == null ? new Reading.Read(message) : chain.read(message);
    }

    /** What becomes of each stored version when it is read, in the given order. */
    public List<UpcastCheck> check(Collection<StoredVersion> stored) {
        return stored.stream().map(this::check).toList();
    }

    /** The stored versions that cannot be read, whatever their payload: a release that leaves any should not be deployed. */
    public List<UpcastCheck> uncovered(Collection<StoredVersion> stored) {
        return stored.stream()
                .map(this::check)
                .filter(check -> !check.isCovered())
                .toList();
    }

    private UpcastCheck check(StoredVersion stored) {
        UpcastChain chain = chains.get(stored.eventType());
        return chain == null
                ? new UpcastCheck(stored, null, null)
                : new UpcastCheck(
                        stored,
                        chain.newest(),
                        chain.problem(stored.eventVersion()).orElse(null));
    }

    /** Collects upcasters; {@link #build} reports every problem at once. For one thread. */
    public static final class Builder {
        /** Beyond this nobody reads on. */
        private static final int PROBLEMS_SHOWN_MAX = 100;

        private final Map<String, UpcastDraft> drafts = new TreeMap<>();

        private Builder() {}

        /** The step of an event type from {@code version} to the one after it. */
        public Builder add(String eventType, int version, Upcaster upcaster) {
            draft(eventType).add(version, Objects.requireNonNull(upcaster, "upcaster"));
            return this;
        }

        /**
         * The newest version of an event type that this process knows: messages of a greater one are not read. A type without steps
         * needs it; of a type with steps it is the version that the last one leads to.
         */
        public Builder newest(String eventType, int version) {
            draft(eventType).newest(version);
            return this;
        }

        private UpcastDraft draft(String eventType) {
            return drafts.computeIfAbsent(Objects.requireNonNull(eventType, "eventType"), UpcastDraft::new);
        }

        public Upcasters build() {
            List<String> problems = drafts.values().stream()
                    .flatMap(draft -> draft.problems().stream())
                    .collect(Collectors.toList());
            if (drafts.size() > EVENT_TYPES_MAX) {
                problems.add(0, "there are " + drafts.size() + " event types, the limit is " + EVENT_TYPES_MAX);
            }
            if (!problems.isEmpty()) {
                int more = problems.size() - PROBLEMS_SHOWN_MAX;
                throw new PostroomException(
                        "upcasters.invalid",
                        "could not build upcasters: "
                                + problems.stream().limit(PROBLEMS_SHOWN_MAX).collect(Collectors.joining("; "))
                                + (more > 0 ? "; and " + more + " more" : ""));
            }
            Map<String, UpcastChain> chains = new HashMap<>();
            drafts.forEach((eventType, draft) -> chains.put(eventType, draft.chain()));
            return chains.isEmpty() ? NONE : new Upcasters(chains);
        }
    }
}
