package io.postroom.server.doctor;

import io.postroom.doctor.Examination;
import io.postroom.doctor.Finding;
import io.postroom.doctor.Severity;
import io.postroom.doctor.Unchecked;
import io.postroom.server.terminal.Counted;
import io.postroom.server.terminal.Quoted;

/** An examination for people: a block for each finding, the worst first. Nothing in it is obeyed by a terminal. */
final class DoctorText {
    private static final int LINE_LENGTH_MAX = 1_000;
    private static final int STATEMENT_LENGTH_MAX = 200;
    private static final int STATEMENTS_MAX = 4;

    private DoctorText() {}

    static String of(Examination examination) {
        StringBuilder text = new StringBuilder();
        for (Finding finding : examination.findings()) {
            line(
                    text,
                    pad(finding.severity().word()) + finding.check().id() + "  "
                            + finding.check().title() + ": " + finding.evidence());
            line(text, pad("") + "do: " + finding.advice());
            finding.fix().statements().stream()
                    .limit(STATEMENTS_MAX)
                    .forEach(statement -> line(text, pad("") + "sql: " + shown(statement)));
            if (finding.fix().statements().size() > STATEMENTS_MAX) {
                line(text, pad("") + "sql: … all of it with --fix-sql");
            }
            line(text, pad("") + "see: " + finding.check().page());
        }
        for (Unchecked unchecked : examination.unchecked()) {
            line(
                    text,
                    pad("unseen") + unchecked.check().id() + "  "
                            + unchecked.check().title() + ": " + unchecked.why()
                            + (unchecked.grant().isEmpty() ? "" : "; " + unchecked.grant()));
        }
        return text + summary(examination) + "\n";
    }

    static String summary(Examination examination) {
        return Counted.of(examination.count(Severity.ERROR), "error") + ", "
                + Counted.of(examination.count(Severity.WARNING), "warning") + ", "
                + Counted.of(examination.count(Severity.NOTE), "note")
                + (examination.unchecked().isEmpty()
                        ? ""
                        : "; " + Counted.of(examination.unchecked().size(), "thing") + " could not be looked at");
    }

    /** A whole script is not for the screen. */
    private static String shown(String statement) {
        long lines = statement.lines().count();
        return lines > 1
                ? "a script of " + lines + " lines; --fix-sql prints it"
                : Quoted.text(statement, STATEMENT_LENGTH_MAX);
    }

    private static String pad(String word) {
        return word + " ".repeat(Math.max(1, 9 - word.length()));
    }

    private static void line(StringBuilder text, String line) {
        text.append(Quoted.text(line, LINE_LENGTH_MAX)).append('\n');
    }
}
