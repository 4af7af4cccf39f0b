package io.postroom.server.projection;

import io.postroom.projection.Comparison;
import io.postroom.projection.GenerationState;
import io.postroom.projection.ReadModelState;
import io.postroom.projection.Retirement;
import io.postroom.projection.SwapPlan;
import io.postroom.projection.TableComparison;
import io.postroom.projection.ViewState;
import io.postroom.server.terminal.Listing;
import java.util.List;

/** Read models and views as rows. */
final class ProjectionListing {
    private ProjectionListing() {}

    static Listing models(List<ReadModelState> models) {
        Listing listing = new Listing(
                "name", "freshness", "age", "ageMax", "fresh", "live", "building", "version", "epoch", "createdAt");
        for (ReadModelState model : models) {
            listing.row(
                    model.name(),
                    model.age().freshness().word(),
                    model.live().isPresent() ? model.age().age() : null,
                    model.age().ageMax(),
                    model.isFresh(),
                    model.live().map(GenerationState::number).orElse(null),
                    model.building().map(GenerationState::number).orElse(null),
                    model.version(),
                    model.epoch(),
                    model.createdAt());
        }
        return listing;
    }

    static Listing generations(ReadModelState model) {
        Listing listing = new Listing(
                "generation",
                "state",
                "version",
                "schema",
                "subscription",
                "position",
                "end",
                "lagMessages",
                "age",
                "rate",
                "remaining",
                "deliveries",
                "deadLetters",
                "heldAt",
                "replaced",
                "madeAt",
                "liveAt",
                "error");
        for (GenerationState each : model.generations()) {
            listing.row(
                    each.number(),
                    each.state(),
                    each.version(),
                    each.schema(),
                    each.subscription(),
                    each.position(),
                    each.end(),
                    each.lag(),
                    each.age(),
                    Math.round(each.rate()),
                    each.remaining().orElse(null),
                    each.deliveries(),
                    each.deadLetters(),
                    each.heldAt(),
                    each.replaced(),
                    each.madeAt(),
                    each.liveAt(),
                    each.error());
        }
        return listing;
    }

    static Listing comparison(Comparison comparison) {
        Listing listing = new Listing(
                "table",
                "same",
                "liveRows",
                "candidateRows",
                "onlyLive",
                "onlyCandidate",
                "different",
                "loneColumns",
                "examples");
        for (TableComparison table : comparison.tables()) {
            listing.row(
                    table.table(),
                    table.isSame(),
                    table.liveRows(),
                    table.candidateRows(),
                    table.onlyLive(),
                    table.onlyCandidate(),
                    table.different(),
                    table.loneColumns(),
                    table.examples());
        }
        return listing;
    }

    static Listing swap(SwapPlan plan) {
        return new Listing("name", "from", "to", "already", "problems")
                .row(plan.readModel(), plan.from(), plan.to(), plan.already(), plan.problems());
    }

    static Listing retirement(Retirement plan) {
        return new Listing("name", "generation", "schema", "tables", "deliveries", "deadLetters", "already")
                .row(
                        plan.readModel(),
                        plan.generation(),
                        plan.schema(),
                        plan.tables(),
                        plan.deliveries(),
                        plan.deadLetters(),
                        plan.already());
    }

    static Listing views(List<ViewState> views) {
        Listing listing =
                new Listing("name", "every", "age", "refreshedAt", "took", "dueAt", "failures", "failedAt", "error");
        for (ViewState view : views) {
            listing.row(
                    view.name(),
                    view.every(),
                    view.refreshedAt() == null ? null : view.age(),
                    view.refreshedAt(),
                    view.took(),
                    view.dueAt(),
                    view.failures(),
                    view.failedAt(),
                    view.error());
        }
        return listing;
    }
}
