package io.postroom.subscription;

/** Who does something, and why; both are kept in the audit. */
public record Act(String actor, String reason) {}
