package io.postroom.server.settings;

/** The database that this process serves, and the role by which it does. */
public record Base(String name, String version, String role) {}
