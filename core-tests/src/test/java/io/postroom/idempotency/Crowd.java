package io.postroom.idempotency;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Many clients of one node that ask for the same at the same time. */
final class Crowd {
    private final NodeMain.Client client;
    private final int threads;

    Crowd(NodeMain.Client client, int threads) {
        this.client = client;
        this.threads = threads;
    }

    /**
     * Asks for all keys of some points, each client in another order, and all clients at the same time if there is one point. Prints {@code asking
     * ROUND} when the first client has begun, {@code together ROUND KEY} when all are at one key, a line for each key with all the answers that
     * anybody got, what went wrong, how long the longest request took, and {@code done ROUND}.
     */
    void run(String round, int keys, List<NodeMain.Point> points) throws InterruptedException {
        Map<String, Set<String>> answers = new ConcurrentHashMap<>();
        List<Throwable> problems = new CopyOnWriteArrayList<>();
        AtomicLong longest = new AtomicLong();
        Map<String, AtomicInteger> asking = new ConcurrentHashMap<>();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        System.out.println("asking " + round);
        for (int thread = 0; thread < threads; thread++) {
            List<NodeMain.Point> turned = new ArrayList<>(points);
            Collections.rotate(turned, thread);
            pool.submit(() -> {
                try {
                    for (NodeMain.Point point : turned) {
                        for (int key = 0; key < keys; key++) {
                            AtomicInteger together = asking.computeIfAbsent(point.key(key), any -> new AtomicInteger());
                            if (together.incrementAndGet() == threads) {
                                System.out.println("together " + round + " " + point.key(key));
                            }
                            ask(point, key, answers, longest);
                            together.decrementAndGet();
                        }
                    }
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
        answers.forEach(
                (key, texts) -> System.out.println("answers " + key + " " + String.join(",", new TreeSet<>(texts))));
        System.out.println("longest " + round + " " + TimeUnit.NANOSECONDS.toMillis(longest.get()));
        System.out.println("done " + round);
    }

    private void ask(NodeMain.Point point, int key, Map<String, Set<String>> answers, AtomicLong longest)
            throws SQLException {
        long began = System.nanoTime();
        Outcome outcome = client.ask(point, key);
        longest.accumulateAndGet(System.nanoTime() - began, Math::max);
        answers.computeIfAbsent(point.key(key), any -> new ConcurrentSkipListSet<>())
                .add(outcome.answer()
                        .map(Crowd::whole)
                        .orElse("none:" + outcome.getClass().getSimpleName()));
    }

    /** Status, headers and bytes, as one word. */
    static String whole(Answer answer) {
        StringBuilder headers = new StringBuilder();
        new TreeMap<>(answer.headers())
                .forEach((name, value) -> headers.append(name).append('=').append(value));
        return answer.status() + ":" + headers.toString().replace(' ', '_').replace(',', ';') + ":"
                + HexFormat.of().formatHex(answer.body());
    }
}
