package io.postroom.message;

/**
 * A set of upcasters that a program finds by itself, through {@link java.util.ServiceLoader}: the relay process, the command line and
 * the console. A jar names its sources in {@code META-INF/services/io.postroom.message.UpcasterSource}.
 *
 * <p>It is made and asked once, when the program starts. It must have a public constructor without parameters.
 */
public interface UpcasterSource {

    /** Adds what it has; problems are found when everything is built. */
    void register(Upcasters.Builder upcasters);
}
