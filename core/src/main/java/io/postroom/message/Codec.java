package io.postroom.message;

/** Turns payload objects into JSON text and back. Implementations are safe for use by many threads. */
public interface Codec {

    /** Writes an object as JSON text; throws an {@link InvalidMessageException} if it cannot be written. */
    String encode(Object payload);

    /** Reads JSON text as an object of the given type; throws an {@link InvalidMessageException} if it does not fit. */
    <T> T decode(String json, Class<T> type);
}
