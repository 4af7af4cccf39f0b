package io.postroom.server.overview;

import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.web.Shown;
import io.postroom.subscription.SubscriptionState;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** One frame of {@code top}: how everything stands, and what went in and out since the frame before. */
final class TopFrame {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    /** Clears the rest of each line and of the screen, and begins at the top: nothing flickers. */
    private static final String HOME = "\u001b[H";

    private static final String REST_OF_LINE = "\u001b[K\n";
    private static final String REST_OF_SCREEN = "\u001b[J";

    private static final int PROBLEM_LENGTH_MAX = 400;

    private final Overview overview;
    private final List<Moment> history;

    TopFrame(Overview overview, List<Moment> history) {
        this.overview = overview;
        this.history = history;
    }

    String text() {
        Listing listing = new Listing(
                "subscription", "lanes", "out", "lag", "behind", "putAside", "deadLetters", "heldKeys", "position");
        overview.sample()
                .subscriptions()
                .forEach(state -> listing.row(
                        state.name(),
                        state.lanesLeased() + "/" + state.lanes(),
                        Shown.rate(out(state)),
                        state.lag(),
                        state.lagMessages(),
                        state.putAside().total(),
                        state.deadLetters(),
                        state.heldKeys(),
                        state.position()));
        return StatusText.head(overview) + "in " + Shown.rate(in()) + "\n\n" + listing.table();
    }

    /** In place of a frame, when nobody answers. */
    static String problemScreen(String problem) {
        return HOME + Quoted.text(problem, PROBLEM_LENGTH_MAX) + REST_OF_LINE + REST_OF_SCREEN;
    }

    static String problemJson(String problem) {
        return JSON.writeValueAsString(Map.of("problem", problem)) + "\n";
    }

    String screen() {
        return HOME + text().lines().map(line -> line + REST_OF_LINE).collect(Collectors.joining()) + REST_OF_SCREEN;
    }

    String json() {
        Map<String, @Nullable Object> frame = StatusJson.of(overview);
        frame.put("publishedPerSecond", in());
        Listing listing = new Listing(
                "subscription",
                "lanes",
                "lanesLeased",
                "outPerSecond",
                "lagSeconds",
                "lagMessages",
                "putAside",
                "deadLetters",
                "heldKeys",
                "position");
        overview.sample()
                .subscriptions()
                .forEach(state -> listing.row(
                        state.name(),
                        state.lanes(),
                        state.lanesLeased(),
                        out(state),
                        state.lag(),
                        state.lagMessages(),
                        state.putAside().total(),
                        state.deadLetters(),
                        state.heldKeys(),
                        state.position()));
        frame.put("subscriptions", listing.objects());
        return JSON.writeValueAsString(frame) + "\n";
    }

    private double in() {
        int last = history.size() - 1;
        return last < 1
                ? 0
                : Overview.rate(
                        history.get(last - 1),
                        history.get(last),
                        history.get(last - 1).position(),
                        history.get(last).position());
    }

    /** Zero for what was not meant to flow at both times. */
    private double out(SubscriptionState state) {
        int last = history.size() - 1;
        if (last < 1) {
            return 0;
        }
        Long before = history.get(last - 1).positions().get(state.name());
        Long after = history.get(last).positions().get(state.name());
        return before == null || after == null
                ? 0
                : Overview.rate(history.get(last - 1), history.get(last), before, after);
    }
}
