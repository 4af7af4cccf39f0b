package io.postroom.benchmark;

import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** Commits at a steady rate. */
record Pace(BenchDatabase database, int rate) {
    /** Adds something to a transaction and answers with its name. */
    @FunctionalInterface
    interface Addition {
        String add(Connection tx, int n) throws Exception;
    }

    /** For some seconds; answers with the time just before each commit. */
    Map<String, Long> keep(int seconds, Addition addition, Runnable committed) throws Exception {
        Map<String, Long> times = new ConcurrentHashMap<>();
        long began = System.nanoTime();
        try (Connection tx = database.connection(false)) {
            for (int i = 0; i < rate * seconds; i++) {
                long due = began + i * 1_000_000_000L / rate;
                while (System.nanoTime() < due) {
                    LockSupport.parkNanos(due - System.nanoTime());
                }
                String name = addition.add(tx, i);
                times.put(name, OtherProcess.micros());
                tx.commit();
                committed.run();
            }
        }
        return times;
    }
}
