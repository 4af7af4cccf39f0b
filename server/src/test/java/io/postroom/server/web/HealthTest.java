package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class HealthTest {
    @Test
    void whileOneAsksTheDatabaseTheOthersAreAnswered() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            AtomicInteger asked = new AtomicInteger();
            CountDownLatch slow = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            DataSource source = (DataSource) Proxy.newProxyInstance(
                    DataSource.class.getClassLoader(),
                    new Class<?>[] {DataSource.class},
                    (proxy, method, arguments) -> {
                        asked.incrementAndGet();
                        begun.countDown();
                        slow.await(1, TimeUnit.MINUTES);
                        return method.invoke(database.dataSource(), arguments);
                    });
            Health health = new Health(new Database(source, Schema.POSTROOM));
            CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(health::isReady);
            assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
            for (int i = 0; i < 100; i++) {
                assertThat(health.isReady()).as("nobody knows yet").isFalse();
            }
            assertThat(asked).hasValue(1);
            slow.countDown();
            assertThat(first.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(health.isReady()).isTrue();
        }
    }
}
