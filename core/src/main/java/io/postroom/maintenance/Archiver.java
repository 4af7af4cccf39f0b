package io.postroom.maintenance;

import io.postroom.archive.Archive;
import io.postroom.archive.ArchiveStep;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Archives days that are old enough. What stays because somebody needs it, or because a lock is not to be had, is tried again in the next
 * round, and said once for each day and reason. Safe to run anywhere, at any time.
 */
final class Archiver {
    private static final Logger LOG = LoggerFactory.getLogger(Archiver.class);

    private final Archive archive;
    private final String schema;
    private final Duration archiveAfter;
    private String said = "";

    Archiver(Archive archive, String schema, Duration archiveAfter) {
        this.archive = archive;
        this.schema = schema;
        this.archiveAfter = archiveAfter;
    }

    void archive() {
        List<ArchiveStep> done = archive.run(archiveAfter);
        for (ArchiveStep step : done) {
            if (step.outcome() == ArchiveStep.Outcome.ARCHIVED) {
                LOG.info("archived day {} of schema {}", step.day(), schema);
            } else {
                sayOnce(step);
            }
        }
    }

    private void sayOnce(ArchiveStep step) {
        String what = step.day() + " " + step.outcome();
        // Another node that archives, and a day too recent, are as it should be.
        boolean usual = step.outcome() == ArchiveStep.Outcome.BUSY || step.outcome() == ArchiveStep.Outcome.RECENT;
        if (!usual && !what.equals(said)) {
            said = what;
            LOG.warn(
                    "could not archive day {} of schema {}: {}; it and later days are tried again in each round",
                    step.day(),
                    schema,
                    step.sentence());
        }
    }
}
