package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.audit.AuditFilter;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give. */
class RedriveGrantsTest {
    private static Graveyard yard;
    private static Grants grants;

    @BeforeAll
    static void create() {
        yard = new Graveyard().subscribeHolding("billing", 4);
        String name = yard.database.name();
        grants = Grants.of(new Schema(name));
        yard.database.execute(grants.print(Schema.POSTROOM));
        yard.publishMany("o", 40);
        yard.bury("billing", "true");
        yard.hold("billing");
    }

    @AfterAll
    static void drop() {
        for (String role : grants.roles()) {
            yard.database.execute(
                    "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
        }
        yard.close();
    }

    private static HikariDataSource as(String role) {
        String url = yard.database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 2);
    }

    @Test
    void anOperatorPlansRequestsStepsAndCancelsAndARelayCarriesOn() {
        try (HikariDataSource operator = as(grants.operator());
                HikariDataSource relay = as(grants.relay());
                HikariDataSource reader = as(grants.reader())) {
            DeadLetters letters = Postroom.on(operator).deadLetters();
            assertThat(letters.plan(DeadLetterFilter.ofOwner("billing")).letters())
                    .isEqualTo(40);
            JsonPatch patch = JsonPatch.parse("[{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]");
            UUID first = letters.redrives()
                    .request(RedriveRequest.redrive(DeadLetterFilter.ofIds(1L, 2L, 3L))
                            .actor("o")
                            .reason("r")
                            .patch(patch)
                            .build())
                    .request()
                    .id();
            assertThat(letters.redrives().step(first).redrive().done()).isEqualTo(3);
            UUID second = letters.redrives()
                    .request(RedriveRequest.discard(DeadLetterFilter.ofIds(4L, 5L))
                            .actor("o")
                            .reason("r")
                            .build())
                    .request()
                    .id();
            assertThat(letters.redrives().step(second).redrive().done()).isEqualTo(2);
            UUID third = letters.redrives()
                    .request(RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing"))
                            .actor("o")
                            .reason("r")
                            .build())
                    .request()
                    .id();
            assertThat(Postroom.on(relay).deadLetters().redrives().stepAll()).isEqualTo(35);
            assertThatThrownBy(() -> letters.redrives().cancel(third, "o", "r")).hasMessageContaining("done already");
            assertThat(Postroom.on(operator).audit().list(AuditFilter.ALL, null, 10))
                    .hasSize(6);
            assertThat(Postroom.on(reader).deadLetters().redrives().list(10)).hasSize(3);
            assertThat(Postroom.on(reader).deadLetters().groups(DeadLetterFilter.ALL, Set.of(GroupBy.ERROR), 10))
                    .isEmpty();
            assertThatThrownBy(() -> Postroom.on(reader)
                            .deadLetters()
                            .redrives()
                            .request(yard.redriveOf("billing").build()))
                    .hasMessageContaining("permission denied");
        }
    }
}
