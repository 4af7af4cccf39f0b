package io.postroom.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuditTest {
    static TestDatabase database;
    static Audit audit;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        audit = database.postroom().audit();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void keepsWhoDidWhatToWhatAndWhy() throws SQLException {
        try (Connection tx = database.begin()) {
            audit.record(tx, "anna", "subscription pause", "subscription kept", "it is late", Map.of("lanes", 4));
            tx.commit();
        }
        AuditEntry entry =
                audit.list(AuditFilter.ofSubject("subscription kept"), null, 10).get(0);
        assertThat(entry.actor()).isEqualTo("anna");
        assertThat(entry.action()).isEqualTo("subscription pause");
        assertThat(entry.reason()).isEqualTo("it is late");
        assertThat(entry.details()).isEqualTo("{\"lanes\": 4}");
        assertThat(entry.role()).isNotEmpty();
        assertThat(entry.at()).isNotNull();
    }

    @Test
    void anActThatIsRolledBackLeavesNoEntry() throws SQLException {
        try (Connection tx = database.begin()) {
            audit.record(tx, "anna", "subscription pause", "subscription undone", "a slip", Map.of());
            tx.rollback();
        }
        assertThat(audit.list(AuditFilter.ofSubject("subscription undone"), null, 10))
                .isEmpty();
    }

    @Test
    void pagesFromTheNewestOnWithoutGapOrRepetition() throws SQLException {
        try (Connection tx = database.begin()) {
            for (int i = 0; i < 25; i++) {
                audit.record(tx, "anna", "test page", i % 5 == 0 ? "other" : "paged", "entry " + i, Map.of());
            }
            tx.commit();
        }
        List<String> seen = new ArrayList<>();
        Long before = null;
        List<AuditEntry> page = audit.list(AuditFilter.ofSubject("paged"), null, 7);
        while (!page.isEmpty()) {
            page.forEach(entry -> seen.add(entry.reason()));
            before = page.get(page.size() - 1).id();
            page = audit.list(AuditFilter.ofSubject("paged"), before, 7);
        }
        assertThat(seen)
                .hasSize(20)
                .doesNotHaveDuplicates()
                .startsWith("entry 24")
                .endsWith("entry 1");
        assertThat(audit.list(AuditFilter.ALL, null, Audit.PAGE_MAX)).hasSizeGreaterThanOrEqualTo(25);
    }

    @Test
    void findsByWhatByWhomAndWhen() throws SQLException {
        try (Connection tx = database.begin()) {
            for (String actor : List.of("gina", "hugo")) {
                audit.record(tx, actor, "filter on", "filtered a", "first", Map.of());
                audit.record(tx, actor, "filter off", "filtered b", "second", Map.of());
            }
            tx.commit();
        }
        AuditFilter.Builder gina = AuditFilter.builder().actor("gina");
        assertThat(audit.list(gina.build(), null, 10))
                .extracting(AuditEntry::action)
                .containsExactly("filter off", "filter on");
        assertThat(audit.list(gina.action("filter on").build(), null, 10))
                .extracting(AuditEntry::subject)
                .containsExactly("filtered a");
        assertThat(audit.list(gina.subject("filtered b").build(), null, 10)).isEmpty();
        List<AuditEntry> all =
                audit.list(AuditFilter.builder().action("filter on").build(), null, 10);
        Instant last = all.get(0).at();
        AuditFilter.Builder on = AuditFilter.builder().action("filter on");
        assertThat(audit.list(on.from(last).build(), null, 10))
                .extracting(AuditEntry::actor)
                .containsExactly("hugo");
        assertThat(audit.list(on.from(null).to(last).build(), null, 10))
                .extracting(AuditEntry::actor)
                .containsExactly("gina");
        assertThat(audit.list(on.to(null).build(), all.get(0).id(), 10))
                .extracting(AuditEntry::actor)
                .containsExactly("gina");
    }

    @Test
    void refusesAFilterThatCannotFit() {
        Instant now = Instant.now();
        assertThatThrownBy(
                        () -> AuditFilter.builder().actor(" ").from(now).to(now).build())
                .hasMessageContaining("actor is empty, the range is 1 to 200")
                .hasMessageContaining("let it begin before it ends")
                .extracting("code")
                .isEqualTo("audit.filter-invalid");
    }

    static Stream<Arguments> badEntries() {
        return Stream.of(
                Arguments.of("", "a b", "s", "r", "actor is empty, the range is 1 to 200"),
                Arguments.of(" ", "a b", "s", "r", "actor is empty"),
                Arguments.of("a".repeat(201), "a b", "s", "r", "actor is 201 characters, the range is 1 to 200"),
                Arguments.of("a", "", "s", "r", "action is empty"),
                Arguments.of("a", "b".repeat(101), "s", "r", "action is 101 characters, the range is 1 to 100"),
                Arguments.of("a", "b", "", "r", "subject is empty"),
                Arguments.of("a", "b", "s".repeat(501), "r", "subject is 501 characters, the range is 1 to 500"),
                Arguments.of("a", "b", "s", "", "reason is empty, the range is 1 to 1000"),
                Arguments.of("a", "b", "s", "r".repeat(1001), "reason is 1001 characters, the range is 1 to 1000"),
                Arguments.of("a\u0000", "b", "s", "r", "actor has a control character"),
                Arguments.of("a", "b", "s", "two\nlines", "reason has a control character"));
    }

    @ParameterizedTest
    @MethodSource("badEntries")
    void refusesWhatIsEmptyOrTooLongAndNamesTheLimit(
            String actor, String action, String subject, String reason, String problem) throws SQLException {
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> audit.record(tx, actor, action, subject, reason, Map.of()))
                    .hasMessageContaining(problem)
                    .extracting("code")
                    .isEqualTo("audit.invalid");
            tx.rollback();
        }
    }

    @Test
    void takesWhatJustFitsInCharactersNotInUnits() throws SQLException {
        String longest = "\ud83d\ude80".repeat(1000);
        try (Connection tx = database.begin()) {
            audit.record(tx, "\ud83d\ude80".repeat(200), "fit it", "fits", longest, Map.of());
            tx.commit();
        }
        assertThat(audit.list(AuditFilter.ofSubject("fits"), null, 1).get(0).reason())
                .isEqualTo(longest);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 1001})
    void refusesPagesBeyondTheLimit(int limit) {
        assertThatThrownBy(() -> audit.list(AuditFilter.ALL, null, limit))
                .hasMessageContaining("the range is 1 to 1000");
    }
}
