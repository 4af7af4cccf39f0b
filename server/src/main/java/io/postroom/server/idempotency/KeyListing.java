package io.postroom.server.idempotency;

import io.postroom.idempotency.KeyDetails;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import java.util.List;

/** How keys are shown: never what was answered. */
final class KeyListing {
    private KeyListing() {}

    /** A table leaves out what does not fit a screen. */
    static Listing of(List<KeyDetails> keys, OutputFormat format) {
        if (format == OutputFormat.TABLE) {
            Listing table =
                    new Listing("tenant", "scope", "key", "state", "status", "steps", "createdAt", "leasedUntil");
            keys.forEach(each -> table.row(
                    each.key().tenant(),
                    each.key().scope(),
                    each.key().key(),
                    each.state(),
                    each.status(),
                    each.steps(),
                    each.createdAt(),
                    each.leasedUntil()));
            return table;
        }
        Listing listing = new Listing(
                "tenant",
                "scope",
                "key",
                "state",
                "status",
                "requestHash",
                "createdAt",
                "completedAt",
                "expiresAt",
                "leasedUntil",
                "leased",
                "fence",
                "steps",
                "step");
        keys.forEach(each -> listing.row(
                each.key().tenant(),
                each.key().scope(),
                each.key().key(),
                each.state(),
                each.status(),
                each.hash(),
                each.createdAt(),
                each.completedAt(),
                each.expiresAt(),
                each.leasedUntil(),
                each.leased(),
                each.fence(),
                each.steps(),
                each.step()));
        return listing;
    }

    /** One below the other. */
    static Listing facts(KeyDetails key) {
        return new Listing("fact", "value")
                .row("tenant", key.key().tenant())
                .row("scope", key.key().scope())
                .row("key", key.key().key())
                .row("state", key.state())
                .row("status", key.status())
                .row("request hash", key.hash())
                .row("created at", key.createdAt())
                .row("completed at", key.completedAt())
                .row("expires at", key.expiresAt())
                .row("leased until", key.leasedUntil())
                .row("somebody is at it", key.leased() ? "yes" : "no")
                .row("fence", key.fence())
                .row("steps done", key.steps())
                .row("last step", key.step());
    }
}
