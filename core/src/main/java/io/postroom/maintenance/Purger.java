package io.postroom.maintenance;

import io.postroom.PostroomException;
import io.postroom.archive.Archive;
import java.time.Duration;
import java.time.LocalDate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops archived days that are older than they are kept, oldest first, up to one that somebody needs; that is said once for each day. Safe
 * to run anywhere, at any time.
 */
final class Purger {
    private static final Logger LOG = LoggerFactory.getLogger(Purger.class);

    private final Archive archive;
    private final String schema;
    private final Duration dropAfter;
    private String said = "";

    Purger(Archive archive, String schema, Duration dropAfter) {
        this.archive = archive;
        this.schema = schema;
        this.dropAfter = dropAfter;
    }

    void purge() {
        for (LocalDate day : archive.droppable(dropAfter)) {
            try {
                archive.drop(day);
                LOG.info("dropped archived day {} of schema {}", day, schema);
            } catch (PostroomException e) {
                if (!e.code().startsWith("archive.")) {
                    throw e;
                }
                if (e.code().equals("archive.dropped")) {
                    // By another process, just now.
                    continue;
                }
                String what = day + " " + e.code();
                if (!what.equals(said)) {
                    said = what;
                    LOG.warn(
                            "{}; schema {} keeps it and later days, and tries again in each round",
                            e.getMessage(),
                            schema);
                }
                return;
            }
        }
    }
}
