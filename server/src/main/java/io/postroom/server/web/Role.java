package io.postroom.server.web;

import java.util.Locale;

/** What a user of console and API may do; each may what those before it may. */
public enum Role {
    /** Sees everything, changes nothing. */
    VIEWER,
    /** Pauses, resumes, redrives, discards. */
    OPERATOR,
    /** Whatever there is. */
    ADMIN;

    /** As it is written in the settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    boolean mayAct() {
        return this != VIEWER;
    }
}
