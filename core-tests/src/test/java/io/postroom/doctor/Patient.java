package io.postroom.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import java.util.List;

/** A database that a test breaks, has looked at, and mends as the doctor says. */
final class Patient {
    private final TestDatabase database;

    Patient(TestDatabase database) {
        this.database = database;
    }

    Examination examine() {
        return database.postroom().doctor().examine();
    }

    List<Finding> findings(Check check) {
        return examine().of(check);
    }

    /** The one finding of a check; its evidence has these words. */
    Finding sees(Check check, String... words) {
        List<Finding> findings = findings(check);
        assertThat(findings).as(check.id()).hasSize(1);
        assertThat(findings.get(0).evidence()).contains(words);
        return findings.get(0);
    }

    void seesNothing(Check check) {
        assertThat(findings(check)).as(check.id()).isEmpty();
    }

    /** Breaks it, sees it, mends it, and sees it no more. */
    Finding breaksAndMends(Check check, String harm, String... words) {
        seesNothing(check);
        database.execute(harm);
        Finding finding = sees(check, words);
        mend(finding);
        seesNothing(check);
        return finding;
    }

    void mend(Finding finding) {
        assertThat(finding.fix().isEmpty()).as("there is SQL for " + finding).isFalse();
        database.execute(finding.fix().statements().toArray(String[]::new));
    }
}
