package io.postroom.micrometer;

import io.postroom.Postroom;

/** Reads some figures from the database. */
@FunctionalInterface
public interface Reading {
    /** Throws if it cannot; then nothing of it counts, whatever others read. {@code postroom} lets no statement take longer than the sampler allows. */
    void read(Postroom postroom, Figures figures);
}
