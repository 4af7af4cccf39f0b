package io.postroom.deadletter;

import java.util.Locale;

/** What dead letters of one group have in common. */
public enum GroupBy {
    /** The error's class and fingerprint. */
    ERROR,
    /** The event type. */
    TYPE,
    /** The subscription. */
    OWNER,
    TENANT,
    /** Tenant, aggregate type and aggregate id. */
    KEY,
    CAUSE;

    /** As it is written in SQL. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
