package io.postroom.server.web;

/** Who asks. {@code name} is the actor of the audit. */
public record User(String name, Role role) {

    public boolean mayAct() {
        return role.mayAct();
    }
}
