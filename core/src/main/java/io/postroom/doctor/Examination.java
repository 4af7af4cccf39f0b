package io.postroom.doctor;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a doctor found.
 *
 * @param findings the worst first
 * @param unchecked what could not be looked at, and why
 */
public record Examination(List<Finding> findings, List<Unchecked> unchecked) {
    public Examination {
        findings = findings.stream()
                .sorted(Comparator.comparing(Finding::severity).thenComparing(Finding::check))
                .toList();
        unchecked = unchecked.stream()
                .sorted(Comparator.comparing(Unchecked::check))
                .toList();
    }

    /** The worst there is; empty if nothing was found. */
    public Optional<Severity> worst() {
        return findings.stream().map(Finding::severity).findFirst();
    }

    public List<Finding> of(Check check) {
        return findings.stream().filter(finding -> finding.check() == check).toList();
    }

    public long count(Severity severity) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    /**
     * A script for psql that mends what SQL can mend, what disturbs least first. Statements that need a decision are comments. To be
     * run without a transaction around it: some of its statements refuse one.
     */
    public String fixSql() {
        List<Finding> mendable = findings.stream()
                .filter(finding -> !finding.fix().isEmpty())
                .sorted(Comparator.comparing((Finding finding) -> finding.fix().risk())
                        .thenComparing(Finding::severity)
                        .thenComparing(Finding::check))
                .toList();
        if (mendable.isEmpty()) {
            return "-- Nothing was found that SQL can mend.\n";
        }
        return "-- What postroom doctor found, as SQL that mends it; what disturbs least comes first. Read it before you run it, as a role\n"
                + "-- that may do such things, and not in one transaction.\n"
                + mendable.stream().map(finding -> "\n" + fixSql(finding)).collect(Collectors.joining());
    }

    /** The part of that script for one finding. */
    public static String fixSql(Finding finding) {
        Fix fix = finding.fix();
        String mark = fix.risk() == Fix.Risk.DECISION ? "-- " : "";
        return "-- " + finding.check().id() + " " + finding.severity().word() + ": "
                + comment(finding.evidence()) + "\n-- " + fix.risk().words() + "; see "
                + finding.check().page() + "\n"
                + fix.statements().stream()
                        // For psql a carriage return ends a comment, too.
                        .map(statement -> mark + statement.replaceAll("\r\n|[\r\n]", "$0" + mark) + ";\n")
                        .collect(Collectors.joining());
    }

    /** Evidence quotes names of others: a line break in one of them must not end the comment. */
    private static String comment(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }
}
