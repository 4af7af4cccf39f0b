package io.postroom.doctor;

import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import java.util.ArrayList;
import java.util.List;

/** Collects what is found while a doctor looks. What PostgreSQL refuses to show is noted; only a lost connection ends it. */
final class Notes {
    private final String reader;
    private final String login;
    private final List<Finding> findings = new ArrayList<>();
    private final List<Unchecked> unchecked = new ArrayList<>();

    /** {@code reader} is the role whose rights are enough, {@code login} the one that looks. */
    Notes(String reader, String login) {
        this.reader = reader;
        this.login = login;
    }

    void add(Finding finding) {
        findings.add(finding);
    }

    void unchecked(Check check, String why, String grant) {
        unchecked.add(new Unchecked(check, why, grant));
    }

    /** Something that looks at some things, and may be refused. */
    void look(List<Check> checks, Runnable look) {
        try {
            look.run();
        } catch (DatabaseException e) {
            if (e.isUnreachable()) {
                throw e;
            }
            boolean forbidden = e.sqlState().equals(SqlState.INSUFFICIENT_PRIVILEGE);
            for (Check check : checks) {
                unchecked(
                        check,
                        "PostgreSQL answered '" + e.said() + "'",
                        forbidden ? "grant " + Names.quoted(reader) + " to " + Names.quoted(login) : "");
            }
        }
    }

    Examination examination() {
        return new Examination(findings, unchecked);
    }
}
