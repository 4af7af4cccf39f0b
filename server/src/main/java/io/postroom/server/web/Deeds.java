package io.postroom.server.web;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what was done with which key, so that the same key again is the same act: the newest of them, for as long as the process
 * lives. Nothing is stored, so after a crash, or in another process, a key is as if it had never been there. Thread-safe.
 */
final class Deeds {
    private static final int MAX = 10_000;

    private final Map<String, Deed> deeds = new LinkedHashMap<>();

    /** What was asked for, and what was answered; null while it is under way. */
    private record Deed(String asked, @Nullable String answer) {}

    /** What is done once. */
    @FunctionalInterface
    interface Work {
        String answer() throws Exception;
    }

    /** Does it, or answers as before; what throws was not done, and may be tried again with its key. */
    String once(String key, String asked, Work work) throws Exception {
        Deed before = begin(key, asked);
        if (before != null) {
            return answer(before, asked);
        }
        try {
            String answer = work.answer();
            end(key, new Deed(asked, answer));
            return answer;
        } finally {
            forgetUnended(key);
        }
    }

    private static String answer(Deed before, String asked) {
        if (!before.asked().equals(asked)) {
            throw new Refusal(
                    422,
                    "idempotency.mismatch",
                    "this key was used for something else; nothing was done: send a new one");
        }
        String answer = before.answer();
        if (answer == null) {
            throw new Refusal(409, "idempotency.running", "the same is being done at the moment; ask again soon");
        }
        return answer;
    }

    private synchronized @Nullable Deed begin(String key, String asked) {
        Deed before = deeds.putIfAbsent(key, new Deed(asked, null));
        if (before == null && deeds.size() > MAX) {
            deeds.remove(deeds.keySet().iterator().next());
        }
        return before;
    }

    private synchronized void end(String key, Deed deed) {
        deeds.put(key, deed);
    }

    private synchronized void forgetUnended(String key) {
        Deed deed = deeds.get(key);
        if (deed != null && deed.answer() == null) {
            deeds.remove(key);
        }
    }
}
