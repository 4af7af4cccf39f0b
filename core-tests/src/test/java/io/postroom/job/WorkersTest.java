package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From enqueuing to the end, with real threads. */
class WorkersTest {
    private Workshop shop;

    @BeforeEach
    void open() {
        shop = new Workshop();
    }

    @AfterEach
    void close() {
        shop.close();
    }

    @Test
    void runAJobThatWasCommittedAndEndIt() {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (Workers workers = shop.workers()
                .queue("mail", 2)
                .handle("mail.send", job -> {
                    seen.add(job.id() + " " + job.kind() + " " + job.attempt() + " " + job.payload());
                    return JobOutcome.done("{\"sent\":true}");
                })
                .build()) {
            workers.start();
            long id = shop.enqueue(
                    Job.of("mail.send", "{\"to\": \"a@b.example\"}").queue("mail"));
            shop.awaitState(id, "done");
            assertThat(seen).containsExactly(id + " mail.send 1 {\"to\": \"a@b.example\"}");
            assertThat(shop.rows("select state, attempt, result, ended_by from postroom.job_done where id = " + id))
                    .containsExactly("done|1|{\"sent\":true}|tester");
        }
        assertThat(shop.database.queryLong("select count(*) from postroom.job")).isZero();
        assertThat(shop.database.queryLong("select count(*) from postroom.worker"))
                .isZero();
    }

    @Test
    void runEachOfManyJobsOnce() {
        int many = 5_000;
        Set<Long> seen = ConcurrentHashMap.newKeySet();
        Queue<Long> twice = new ConcurrentLinkedQueue<>();
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            jobs.add(Job.of("count", "" + i).build());
        }
        List<Long> ids = shop.enqueueAll(jobs);
        assertThat(ids).isSorted().doesNotHaveDuplicates().hasSize(many);
        assertThat(shop.database.queryLong(
                        "select count(*) from postroom.job where id::text = (payload::text::bigint + " + ids.get(0)
                                + ")::text"))
                .as("ids in the order of the batch")
                .isEqualTo(many);
        JobHandler count = job -> {
            if (!seen.add(job.id())) {
                twice.add(job.id());
            }
            return JobOutcome.done();
        };
        try (Workers one = shop.workers()
                        .queue("default", 3)
                        .handle("count", count)
                        .build();
                Workers two = shop.workers()
                        .queue("default", 3)
                        .handle("count", count)
                        .build()) {
            one.start();
            two.start();
            shop.awaitDone(many);
        }
        assertThat(twice).isEmpty();
        assertThat(seen).hasSize(many).containsAll(ids);
        assertThat(shop.rows("select count(*), count(distinct id) from postroom.job_done"))
                .containsExactly(many + "|" + many);
    }
}
