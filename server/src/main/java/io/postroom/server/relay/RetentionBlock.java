package io.postroom.server.relay;

import io.postroom.archive.Retention;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The block {@code retention}: when days are archived, and when they are dropped. Without it neither happens. */
final class RetentionBlock {
    private Duration archiveAfter = Retention.USUAL.archiveAfter();
    private @Nullable Duration dropAfter;

    private RetentionBlock() {}

    static @Nullable Retention read(Section root) {
        Optional<Section> found = root.section("retention");
        if (found.isEmpty()) {
            return null;
        }
        Section section = found.get();
        RetentionBlock block = new RetentionBlock();
        section.duration("archive-after", value -> block.archiveAfter = value);
        section.duration("drop-after", value -> block.dropAfter = value);
        section.close();
        List<String> problems = Retention.problems(block.archiveAfter, block.dropAfter);
        problems.forEach(problem -> section.problem(section.line(), section.path() + ": " + problem));
        return problems.isEmpty() ? new Retention(block.archiveAfter, block.dropAfter) : null;
    }
}
