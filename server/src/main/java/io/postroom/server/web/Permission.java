package io.postroom.server.web;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** An act that a role may do. Looking is no act: whoever is let in sees everything that is not masked. */
public enum Permission {
    PAUSE("pauses and resumes subscriptions, queues and schedules"),
    REDRIVE("previews, begins and cancels redrives of dead letters"),
    DISCARD("gives dead letters up for good; needs redrive too"),
    RUN("retries and cancels jobs, and runs schedules now"),
    REVEAL("sees one masked payload at a time, with a reason"),
    OTHER("releases idempotency keys, removes schedules, and does what has no name here");

    private static final List<String> PAUSING = List.of("pause", "resume");
    private static final List<String> RUNNING = List.of("retry", "run", "cancel");

    private final String meaning;

    Permission(String meaning) {
        this.meaning = meaning;
    }

    /** As it is written in the settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What one may with it. */
    public String meaning() {
        return meaning;
    }

    static Optional<Permission> named(String word) {
        return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    static List<String> words() {
        return Arrays.stream(values()).map(Permission::word).toList();
    }

    /** What the act at a path needs. */
    static Permission of(String path) {
        String last = path.substring(path.lastIndexOf('/') + 1);
        if (path.startsWith("/redrives")) {
            return REDRIVE;
        }
        if (last.equals("reveal")) {
            return REVEAL;
        }
        return PAUSING.contains(last) ? PAUSE : RUNNING.contains(last) ? RUN : OTHER;
    }
}
