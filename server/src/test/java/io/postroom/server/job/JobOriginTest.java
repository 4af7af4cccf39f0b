package io.postroom.server.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import org.junit.jupiter.api.Test;

class JobOriginTest {
    @Test
    void aJobHasOneNameAndNoOtherDatabaseHasIt() {
        try (TestDatabase one = TestDatabase.create();
                TestDatabase other = TestDatabase.create()) {
            String name = new JobOrigin(one.postroom().database()).idOf(42);
            assertThat(name).matches("job-[0-9a-f]{12}-42");
            assertThat(new JobOrigin(one.postroom().database()).idOf(42)).isEqualTo(name);
            assertThat(new JobOrigin(other.postroom().database()).idOf(42)).isNotEqualTo(name);
        }
    }

    @Test
    void theNameStaysWhenADumpWasRestoredElsewhere() {
        try (TestDatabase database = TestDatabase.create()) {
            String name = new JobOrigin(database.postroom().database()).idOf(42);
            // As a restamp notes the new cluster.
            database.execute("insert into postroom.cluster (system_identifier) values (1)");
            assertThat(new JobOrigin(database.postroom().database()).idOf(42)).isEqualTo(name);
        }
    }
}
