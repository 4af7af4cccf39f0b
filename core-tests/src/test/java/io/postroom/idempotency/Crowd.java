package io.postroom.idempotency;

import io.postroom.Postroom;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** Many clients of one node that ask for the same at the same time. */
final class Crowd {
    private final DataSource database;
    private final Work work;
    private final int threads;

    Crowd(DataSource database, Work work, int threads) {
        this.database = database;
        this.work = work;
        this.threads = threads;
    }

    /**
     * Asks for all keys of a round. Prints {@code asking POINT} when the first client has begun, a line for each key with all the answers that
     * anybody got, what went wrong, how long the longest request took, and {@code done POINT}.
     */
    void run(NodeMain.Point point, int keys) throws InterruptedException {
        if (point.kind == NodeMain.Kind.COMPLETED && threads == 1) {
            complete(point);
            return;
        }
        Map<Integer, Set<String>> answers = new ConcurrentHashMap<>();
        List<Throwable> problems = new CopyOnWriteArrayList<>();
        AtomicLong longest = new AtomicLong();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        System.out.println("asking " + point);
        for (int thread = 0; thread < threads; thread++) {
            pool.submit(() -> {
                try {
                    ask(point, keys, answers, longest);
                } catch (Exception | AssertionError e) {
                    problems.add(e);
                }
            });
        }
        pool.shutdown();
        if (!pool.awaitTermination(30, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the crowd is not done");
        }
        problems.forEach(problem -> System.out.println("problem " + problem));
        new TreeMap<>(answers)
                .forEach((key, texts) -> System.out.println(
                        "answers " + point + " " + key + " " + String.join(",", new TreeSet<>(texts))));
        System.out.println("longest " + point + " " + TimeUnit.NANOSECONDS.toMillis(longest.get()));
        System.out.println("done " + point);
    }

    private void ask(NodeMain.Point point, int keys, Map<Integer, Set<String>> answers, AtomicLong longest)
            throws SQLException {
        for (int key = 0; key < keys; key++) {
            long began = System.nanoTime();
            Outcome outcome = point.ask(database, point.request(key), work);
            longest.accumulateAndGet(System.nanoTime() - began, Math::max);
            String text = outcome.answer().map(Answer::text).orElse(outcome.toString());
            answers.computeIfAbsent(key, any -> new ConcurrentSkipListSet<>()).add(text);
        }
    }

    /** A completer instead of clients; it stands still before it is done. */
    private void complete(NodeMain.Point point) {
        try (Completer completer = Postroom.on(database)
                .idempotency()
                .completer(point.scope(), NodeMain.POLICY, work.procedure(point.kind))) {
            completer.runOnce();
        }
    }
}
