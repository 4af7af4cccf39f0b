package io.postroom.idempotency;

import io.postroom.Postroom;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Many clients that ask for the same at the same time: odd keys in one transaction, even ones in steps. */
final class Crowd {
    private final DataSource database;
    private final Idempotency idempotency;
    private final int threads;
    private final int keys;
    private final List<Set<String>> answers;

    Crowd(DataSource database, int threads, int keys) {
        this.database = database;
        this.idempotency = Postroom.on(database).idempotency();
        this.threads = threads;
        this.keys = keys;
        this.answers = new ArrayList<>(Collections.nCopies(keys, Set.of()));
    }

    static String key(int n) {
        return "crowd-" + n;
    }

    static NodeMain.Point kind(int key) {
        return key % 2 == 1 ? NodeMain.Point.ONCE_IN_COMMAND : NodeMain.Point.CALLED_NOT_NOTED;
    }

    /** Prints a line for each key with all the answers that anybody got, and the word done. */
    void run() throws InterruptedException {
        List<Throwable> problems = new CopyOnWriteArrayList<>();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int thread = 0; thread < threads; thread++) {
            pool.submit(() -> {
                try {
                    ask();
                } catch (Exception | AssertionError e) {
                    problems.add(e);
                }
            });
        }
        System.out.println("begun");
        pool.shutdown();
        if (!pool.awaitTermination(30, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the crowd is not done");
        }
        problems.forEach(problem -> System.out.println("problem " + problem));
        for (int key = 0; key < keys; key++) {
            System.out.println("answers " + key + " " + String.join(",", answers.get(key)));
        }
        System.out.println("done");
    }

    private void ask() throws SQLException {
        NodeMain.Work work = new NodeMain.Work(database, null);
        for (int key = 0; key < keys; key++) {
            Outcome outcome = kind(key).ask(idempotency, Shop.request(key(key)), work);
            String text = outcome.answer().map(Answer::text).orElse(outcome.toString());
            synchronized (answers) {
                Set<String> seen = new HashSet<>(answers.get(key));
                seen.add(text);
                answers.set(key, seen);
            }
        }
    }
}
