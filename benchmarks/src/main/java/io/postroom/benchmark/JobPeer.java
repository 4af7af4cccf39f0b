package io.postroom.benchmark;

/** Something else that runs jobs from PostgreSQL, in the fastest setting its documentation calls safe. */
interface JobPeer {
    /** Its name, version and setting. */
    String name();

    /**
     * Puts as many jobs that do nothing into a fresh database and works them all off; answers with jobs a second, from the start until
     * it has stopped and so has written the last end. What is left is counted once, after that: nobody pays for being asked.
     */
    double burn(BenchDatabase database, int many) throws Exception;

    /** Whether it gets faster by doing it again and again in this process; false too if another one does that for it. */
    default boolean warmsUp() {
        return true;
    }
}
