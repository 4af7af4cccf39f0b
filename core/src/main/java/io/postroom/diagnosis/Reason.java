package io.postroom.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One reason, with the facts that prove it.
 *
 * @param sentence for people; it may quote names and errors of others, but no payload
 * @param evidence facts by name, in an order for people: text, numbers, booleans, times ({@link Instant}) and {@link Duration}s
 * @param next commands that look closer or mend it, the harmless one first; empty where there is nothing to do
 */
public record Reason(Code code, String sentence, Map<String, Object> evidence, List<String> next) {
    public Reason {
        evidence = Collections.unmodifiableMap(new LinkedHashMap<>(evidence));
        next = List.copyOf(next);
    }

    static Draft because(Code code, String sentence) {
        return new Draft(code, sentence);
    }

    /** Collects a reason; what is null is left out. */
    static final class Draft {
        private final Code code;
        private final String sentence;
        private final Map<String, Object> evidence = new LinkedHashMap<>();

        private Draft(Code code, String sentence) {
            this.code = code;
            this.sentence = sentence;
        }

        Draft fact(String name, @Nullable Object value) {
            if (value != null) {
                evidence.put(name, value);
            }
            return this;
        }

        Reason next(String... commands) {
            return new Reason(code, sentence, evidence, List.of(commands));
        }
    }
}
