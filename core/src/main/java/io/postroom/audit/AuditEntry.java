package io.postroom.audit;

import java.time.Instant;

/** One act of an operator. {@code role} is the database role that did it; {@code details} is a JSON object. */
public record AuditEntry(
        long id, Instant at, String actor, String role, String action, String subject, String reason, String details) {}
