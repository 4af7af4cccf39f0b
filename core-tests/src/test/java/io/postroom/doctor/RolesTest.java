package io.postroom.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.advice.Wishes;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Rights against those that the printed grants give. Roles belong to the whole server, so their names carry the database's. */
class RolesTest {
    static TestDatabase database;
    static Grants roles;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        roles = Grants.of(new Schema(database.name()));
        Finding none = one(Check.ROLES);
        assertThat(none.evidence()).contains("there is no role " + roles.owner());
        database.execute(none.fix().statements().toArray(String[]::new));
        database.execute("create role " + login() + " login password 'a test needs none'");
    }

    @AfterAll
    static void drop() {
        Stream.concat(Stream.of(login()), roles.roles().stream())
                .forEach(role -> database.execute("drop owned by " + role + " cascade", "drop role " + role));
        database.close();
    }

    private static String login() {
        return database.name() + "_login";
    }

    /** Looks at rights and policies alone, which is all that is broken here. */
    private static List<Finding> findings(Check check) {
        Notes notes = new Notes(roles.reader(), "postgres");
        return database.postroom().database().run(tx -> {
            new RoleChecks(Schema.POSTROOM, roles, notes).look(tx);
            PolicyChecks policies = new PolicyChecks(Schema.POSTROOM, notes);
            policies.tables(tx);
            policies.views(tx);
            policies.sessions(tx);
            return notes.examination().of(check);
        });
    }

    private static Finding one(Check check) {
        List<Finding> findings = findings(check);
        assertThat(findings).as(check.id()).hasSize(1);
        return findings.get(0);
    }

    private static Finding breaksAndMends(Check check, String harm) {
        assertThat(findings(check)).isEmpty();
        database.execute(harm);
        Finding finding = one(check);
        database.execute(finding.fix().statements().toArray(String[]::new));
        assertThat(findings(check)).isEmpty();
        return finding;
    }

    @Test
    void rightsThatWereGrantedAreNeitherMissingNorTooMany() {
        assertThat(Stream.of(Check.ROLES, Check.GRANTS_MISSING, Check.GRANTS_EXCESS, Check.OWNER)
                        .flatMap(check -> findings(check).stream()))
                .isEmpty();
        assertThat(GrantedRight.of(roles.print(Schema.POSTROOM)))
                .hasSizeGreaterThan(300)
                .contains(
                        new GrantedRight(roles.writer(), "insert", "column", "\"postroom\".outbox", "payload"),
                        new GrantedRight(roles.relay(), "execute", "function", "\"postroom\".stamp(integer, text)", ""),
                        new GrantedRight(roles.reader(), "usage", "schema", "\"postroom\"", ""));
    }

    @Test
    void seesARightThatIsMissing() {
        Finding finding = breaksAndMends(
                Check.GRANTS_MISSING, "revoke insert (payload) on postroom.outbox from " + roles.writer());
        assertThat(finding.evidence())
                .isEqualTo("role " + roles.writer() + " lacks insert (payload) on table \"postroom\".outbox");
        breaksAndMends(
                Check.GRANTS_MISSING, "revoke execute on function postroom.stamp(integer, text) from " + roles.relay());
        breaksAndMends(Check.GRANTS_MISSING, "revoke select on sequence postroom.audit_id_seq from " + roles.reader());
    }

    @Test
    void seesARightThatIsTooMuch() {
        Finding ofAll = breaksAndMends(Check.GRANTS_EXCESS, "grant select on postroom.outbox to public");
        assertThat(ofAll.severity()).isEqualTo(Severity.ERROR);
        assertThat(ofAll.evidence()).contains("everybody has rights", "select on table postroom.outbox");
        Finding ofOne = breaksAndMends(Check.GRANTS_EXCESS, "grant delete on postroom.audit to " + roles.operator());
        assertThat(ofOne.severity()).isEqualTo(Severity.WARNING);
        Finding ofColumn =
                breaksAndMends(Check.GRANTS_EXCESS, "grant update (payload) on postroom.outbox to " + roles.relay());
        assertThat(ofColumn.evidence()).contains("update (\"payload\") on table postroom.outbox");
        Finding ofFunction = breaksAndMends(
                Check.GRANTS_EXCESS, "grant execute on function postroom.restamp() to " + roles.writer());
        assertThat(ofFunction.evidence()).contains("execute on function postroom.restamp(");
        Finding ofSequence = breaksAndMends(
                Check.GRANTS_EXCESS, "grant usage on sequence postroom.audit_id_seq to " + roles.reader());
        assertThat(ofSequence.evidence()).contains("usage on sequence postroom.audit_id_seq");
        Finding ofStranger = breaksAndMends(Check.GRANTS_EXCESS, "grant select on postroom.audit to " + login());
        assertThat(ofStranger.severity()).isEqualTo(Severity.NOTE);
    }

    @Test
    void seesATableOfSomebodyElse() {
        Finding finding = breaksAndMends(Check.OWNER, "alter table postroom.lane owner to postgres");
        assertThat(finding.evidence()).contains("postroom.lane", "does not belong to " + roles.owner());
    }

    @Test
    void seesALoginAboveTheRules() {
        database.execute("grant " + roles.writer() + " to " + login());
        Finding finding = breaksAndMends(Check.PRIVILEGED_LOGIN, "alter role " + login() + " bypassrls");
        assertThat(finding.evidence())
                .contains("login " + login() + " has " + roles.writer() + " and bypasses row level security");
        breaksAndMends(Check.PRIVILEGED_LOGIN, "alter role " + login() + " superuser");
        database.execute("revoke " + roles.writer() + " from " + login());
    }

    @Test
    void seesPoliciesThatDoNotHold() {
        database.execute("create table note (tenant_id text)", "alter table note owner to " + login());
        Finding off = breaksAndMends(
                Check.POLICIES_OFF, "create policy mine on note using (tenant_id = current_setting('app.tenant_id'))");
        assertThat(off.evidence()).contains("table public.note has policies and row level security is off");
        Finding bypassed = one(Check.POLICIES_BYPASSED);
        assertThat(bypassed.evidence()).contains("do not hold for its owner " + login());
        database.execute(bypassed.fix().statements().toArray(String[]::new));
        assertThat(findings(Check.POLICIES_BYPASSED)).isEmpty();
        Finding view = breaksAndMends(Check.POLICIES_VIEW, "create view all_notes as select tenant_id from note");
        assertThat(view.evidence()).contains("view public.all_notes reads table public.note by the rights of postgres");
        database.execute("drop view all_notes", "drop table note");
    }

    @Test
    void seesAProgramThatLogsInAboveTheRules() throws SQLException {
        String words =
                " sessions of PostgreSQL JDBC Driver are those of " + login() + ", who bypasses row level security";
        database.execute("alter role " + login() + " bypassrls");
        try (Connection session = source().getConnection()) {
            assertThat(session.isValid(10)).isTrue();
            assertThat(findings(Check.PRIVILEGED_SESSION))
                    .anySatisfy(finding -> assertThat(finding.evidence()).contains(words));
            database.execute("alter role " + login() + " nobypassrls");
            assertThat(findings(Check.PRIVILEGED_SESSION))
                    .noneMatch(finding -> finding.evidence().contains(words));
        }
    }

    @Test
    void tellsAReaderWhatItMayNotSeeAndLooksAtTheRest() {
        database.execute("grant " + roles.reader() + " to " + login());
        Examination examination = asLogin().examine(roles, 0);
        assertThat(examination.unchecked())
                .extracting(Unchecked::check)
                .containsExactly(Check.OLD_TRANSACTION, Check.IDLE_TRANSACTION);
        assertThat(examination.of(Check.PRIVILEGED_SESSION))
                .as("the sessions of this test")
                .anyMatch(finding -> finding.evidence().contains("are those of postgres, who is a superuser"));
        assertThat(Postroom.on(source()).advisor().advise(Wishes.NONE)).isNotEmpty();
        for (Unchecked unchecked : examination.unchecked()) {
            database.execute(unchecked.grant());
        }
        assertThat(asLogin().examine(roles, 0).unchecked()).isEmpty();
        database.execute("revoke pg_read_all_stats, " + roles.reader() + " from " + login());
    }

    @Test
    void oneRefusalEndsNoOtherLookWhereStatementsAreLimited() {
        database.execute(
                "grant " + roles.writer() + " to " + login(), "grant select on postroom.migration to " + login());
        try {
            Examination each = asLogin().examine(roles, 0);
            Examination limited = Postroom.builder(source())
                    .statementMax(Duration.ofSeconds(30))
                    .build()
                    .doctor()
                    .examine(roles, 0);
            assertThat(limited.unchecked())
                    .isEqualTo(each.unchecked())
                    .extracting(Unchecked::check)
                    .contains(Check.PARTITIONS_AHEAD, Check.SUSPECTS)
                    .doesNotContain(Check.INVALID_INDEX);
            assertThat(limited.unchecked())
                    .noneMatch(unchecked -> unchecked.why().contains("transaction is aborted"));
        } finally {
            database.execute(
                    "revoke select on postroom.migration from " + login(),
                    "revoke " + roles.writer() + " from " + login());
        }
    }

    @Test
    void tellsAStrangerWhichRoleWouldShowIt() {
        Examination examination = asLogin().examine(roles, 0);
        assertThat(examination.unchecked())
                .anySatisfy(unchecked -> {
                    assertThat(unchecked.check()).isEqualTo(Check.SCHEMA_BEHIND);
                    assertThat(unchecked.grant()).isEqualTo("grant \"" + roles.reader() + "\" to \"" + login() + "\"");
                })
                .extracting(Unchecked::check)
                .contains(Check.PARTITIONS_AHEAD);
        assertThat(examination.of(Check.SCHEMA_BEHIND)).isEmpty();
    }

    private static Doctor asLogin() {
        return Postroom.on(source()).doctor();
    }

    private static PGSimpleDataSource source() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.url().replaceAll("(?<=[?&])(user|password)=[^&]*", ""));
        source.setUser(login());
        source.setPassword("a test needs none");
        return source;
    }
}
