package io.postroom.server.doctor;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.advice.Advice;
import io.postroom.advice.Advisor;
import io.postroom.advice.Figures;
import io.postroom.advice.Wishes;
import io.postroom.doctor.Examination;
import io.postroom.doctor.Finding;
import io.postroom.postgres.Grants;
import io.postroom.server.advice.AdviceJson;
import io.postroom.server.postgres.RoleNames;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.time.Duration;
import java.util.List;

/** Whether the database is fit, and which way to go: a page, and the calls that say the same. */
public final class DoctorPages implements WebServer.Feature {
    /** However many watch, the database is asked no more often. */
    private static final Duration KEPT = Duration.ofSeconds(15);

    private static final int SQL_LENGTH_MAX = 4_000;

    private final Postroom reading;
    private final Grants roles;
    private Consultation last = Consultation.NONE;

    /** {@code roles}: how those of the database are called. */
    public DoctorPages(Postroom reading, RoleNames roles) {
        this.reading = reading;
        this.roles = roles.of(reading.database().schema());
    }

    /** What was found, and when by this process's own clock. */
    private record Consultation(Examination examination, Figures figures, List<Advice> advice, long nanos) {
        static final Consultation NONE = new Consultation(
                new Examination(List.of(), List.of()),
                new Figures(Duration.ZERO, 0, 0, 0, 0, 0, null, 0, new Figures.Storage(0, 0, 0, 0), List.of()),
                List.of(),
                0);
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/doctor", context -> show(context, pages))
                .call("/doctor", context -> DoctorJson.object(consult().examination()))
                .call("/advice", context -> {
                    Consultation found = consult();
                    return AdviceJson.object(found.figures(), found.advice());
                });
    }

    private synchronized Consultation consult() {
        if (last == Consultation.NONE || System.nanoTime() - last.nanos() > KEPT.toNanos()) {
            Advisor advisor = reading.advisor();
            Figures figures = advisor.measure();
            last = new Consultation(
                    reading.doctor().examine(roles, 0),
                    figures,
                    advisor.advise(figures, Wishes.NONE),
                    System.nanoTime());
        }
        return last;
    }

    /** The SQL that mends a finding, as the command prints it; empty if it is too long for a page. */
    public static String fixSql(Finding finding) {
        String sql = Examination.fixSql(finding);
        return sql.length() > SQL_LENGTH_MAX ? "" : sql;
    }

    private void show(Context context, Pages pages) {
        Consultation found = consult();
        pages.show(
                context,
                "doctor",
                pages.page(context, "Doctor", "doctor"),
                "examination",
                found.examination(),
                "figures",
                found.figures(),
                "advice",
                found.advice());
    }
}
