package io.postroom.idempotency;

/**
 * What a request asks for, where that is more than changes of this database: steps, and calls to others between them.
 *
 * <p>After a crash it is run again from its beginning. Steps that are done are not done again but give what they returned; so it must
 * take the same steps in the same order whenever it is run with the same request. What it does between steps may happen again: let it
 * call others with a key that stays the same, never with the fence in it.
 */
@FunctionalInterface
public interface Procedure<E extends Exception> {
    Answer run(Steps steps) throws E;
}
