package io.postroom.server.web;

/** Who asks. {@code name} is the actor of the audit. */
public record User(String name, Role role) {

    /** Whether there is anything that this user may do. */
    public boolean mayAct() {
        return role.mayAct();
    }

    public boolean may(Permission permission) {
        return role.may(permission);
    }
}
