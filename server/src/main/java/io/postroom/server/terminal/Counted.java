package io.postroom.server.terminal;

/** So many of something, in words. */
public final class Counted {
    private Counted() {}

    /** {@code 1 key}, {@code 17 keys}. */
    public static String of(long number, String noun) {
        return of(number, noun, noun + "s");
    }

    /** For what has another plural, and for verbs: {@code 1 key has}, {@code 17 keys have}. */
    public static String of(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }
}
