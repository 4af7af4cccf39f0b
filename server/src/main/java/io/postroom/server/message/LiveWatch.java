package io.postroom.server.message;

import io.postroom.server.web.EventStream;
import io.postroom.server.web.Routes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Shows one viewer the new messages that fit, as many as one can follow, and says how many were left out. For one thread. */
final class LiveWatch implements Routes.Watch {
    /** So many a second. */
    static final int RATE_MAX = 50;

    private final LiveMessages live;
    private final MessageQuery query;
    private long position;
    private boolean isStale;

    LiveWatch(LiveMessages live, MessageQuery query, long position) {
        this.live = live;
        this.query = query;
        this.position = position;
    }

    @Override
    public void step(EventStream stream) throws IOException {
        LiveMessages.Seen seen = live.since(position);
        if (seen.isStale()) {
            if (!isStale) {
                stream.send("stale", null, Map.of("detail", "the database does not answer; what comes next is late"));
            }
            isStale = true;
            return;
        }
        isStale = false;
        long leftOut = seen.leftOut();
        List<MessageRow> fitting = new ArrayList<>();
        for (LiveMessages.Live each : seen.rows()) {
            Map<List<String>, String> found = each.found();
            List<String> path = query.path();
            if (path != null && (found == null || !found.containsKey(path))) {
                leftOut++;
            } else if (query.fits(each.row(), path == null ? null : found.get(path))) {
                fitting.add(each.row());
            }
        }
        int from = Math.max(0, fitting.size() - RATE_MAX);
        leftOut += from;
        if (leftOut > 0) {
            stream.send("left-out", null, Map.of("messages", leftOut));
        }
        for (Map<String, ?> row : MessagePages.objects(fitting.subList(from, fitting.size()))) {
            stream.send("message", (Long) row.get("position"), row);
        }
        if (seen.reached() > position) {
            position = seen.reached();
            stream.reached(position);
        }
    }

    @Override
    public void end() {
        live.end(query.path());
    }
}
