package io.postroom.server.projection;

import io.postroom.Postroom;
import io.postroom.projection.GenerationState;
import io.postroom.projection.ReadModelState;
import io.postroom.projection.ViewState;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.List;

/** Read models with their generations, and materialized views: how old what they show is. */
public final class ReadModelPages implements WebServer.Feature {
    private final Postroom reading;

    public ReadModelPages(Postroom reading) {
        this.reading = reading;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page(
                        "/read-models",
                        context -> pages.show(
                                context,
                                "read-models",
                                pages.page(context, "Read models", "read-models"),
                                "models",
                                reading.readModels().list(),
                                "views",
                                views()))
                .call(
                        "/read-models",
                        context -> Listed.of(
                                generations(reading.readModels().list()).objects(), null))
                .call("/materialized-views", context -> Listed.of(views(views()).objects(), null));
    }

    /** Nothing is started: the views are only looked at. */
    private List<ViewState> views() {
        try (var views = reading.materializedViews()) {
            return views.list();
        }
    }

    private static Listing generations(List<ReadModelState> models) {
        Listing listing = new Listing(
                "readModel",
                "freshness",
                "ageSeconds",
                "isFresh",
                "generation",
                "version",
                "state",
                "schema",
                "subscription",
                "position",
                "lagMessages",
                "deadLetters",
                "liveAt",
                "error");
        for (ReadModelState model : models) {
            for (GenerationState generation : model.generations()) {
                listing.row(
                        model.name(),
                        model.age().freshness().word(),
                        model.live().isPresent() ? model.age().age() : null,
                        model.isFresh(),
                        generation.number(),
                        generation.version(),
                        generation.state(),
                        generation.schema(),
                        generation.subscription(),
                        generation.position(),
                        generation.lag(),
                        generation.deadLetters(),
                        generation.liveAt(),
                        generation.error());
            }
        }
        return listing;
    }

    private static Listing views(List<ViewState> views) {
        Listing listing = new Listing(
                "name", "everySeconds", "dueAt", "refreshedAt", "ageSeconds", "tookSeconds", "failures", "error");
        views.forEach(view -> listing.row(
                view.name(),
                view.every(),
                view.dueAt(),
                view.refreshedAt(),
                view.age(),
                view.took(),
                view.failures(),
                view.error()));
        return listing;
    }
}
