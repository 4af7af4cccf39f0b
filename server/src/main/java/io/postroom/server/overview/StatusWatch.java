package io.postroom.server.overview;

import io.postroom.server.web.EventStream;
import io.postroom.server.web.Routes;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows one viewer how things stand, each time that somebody has looked; all viewers share the looks. For one thread. */
final class StatusWatch implements Routes.Watch {
    private final Sampler sampler;
    private @Nullable Instant sent;
    private boolean isStale;

    StatusWatch(Sampler sampler) {
        this.sampler = sampler;
    }

    @Override
    public void step(EventStream stream) throws IOException {
        Sample sample = sampler.watched().orElse(null);
        String problem = sampler.problem();
        if (problem != null) {
            if (!isStale) {
                stream.send("stale", null, Map.of("detail", problem));
            }
            isStale = true;
        } else if (sample != null && !sample.at().equals(sent)) {
            stream.send("status", sample.position(), StatusJson.of(Overview.of(sample, sampler.history())));
            sent = sample.at();
            isStale = false;
        }
    }
}
