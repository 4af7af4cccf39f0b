package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.JacksonCodec;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Schema;
import io.postroom.postgres.SqlState;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;
import java.util.function.LongSupplier;

/** A worker without threads: it claims and ends step by step. */
final class Hand {
    private final Workshop shop;
    private final WorkerSettings settings;
    private final ClaimTable claims;
    private final WorkerTable table = new WorkerTable(Schema.POSTROOM);
    private final Settler settler;

    Hand(Workshop shop, String name, Kind... kinds) {
        this(shop, name, Duration.ofMinutes(5), kinds);
    }

    Hand(Workshop shop, String name, Duration lease, Kind... kinds) {
        this.shop = shop;
        settings = new WorkerSettings(
                UUID.randomUUID(),
                name,
                List.of("default"),
                lease,
                Duration.ofSeconds(1),
                Duration.ofMillis(1),
                Duration.ofMillis(1),
                new JacksonCodec());
        claims = new ClaimTable(Schema.POSTROOM, settings.id(), List.of(kinds));
        settler = new Settler(new SettleTable(Schema.POSTROOM), name);
        beat();
    }

    private Hand(Hand other, String name) {
        shop = other.shop;
        settings = other.settings;
        claims = other.claims;
        settler = new Settler(new SettleTable(Schema.POSTROOM), name);
    }

    /** The same worker, under another name in what it writes. */
    Hand named(String name) {
        return new Hand(this, name);
    }

    UUID id() {
        return settings.id();
    }

    void beat() {
        shop.postroom.database().run(tx -> {
            table.beat(tx, settings, "here");
            return true;
        });
    }

    void die() {
        shop.database.execute(
                "update postroom.worker set leased_until = clock_timestamp() - interval '1 s' where id = '"
                        + settings.id() + "'");
    }

    List<ClaimedJob> claim(int limit) {
        return shop.postroom.database().run(tx -> claims.claim(tx, "default", limit));
    }

    boolean begin(ClaimedJob job) {
        return shop.postroom.database().run(tx -> table.begin(tx, job));
    }

    List<ClaimedJob> claim(Connection tx, int limit) {
        return claims.claim(tx, "default", limit);
    }

    List<ClaimedJob> claimOnward(Connection tx, SortedMap<Integer, Long> turns, int limit) {
        return claims.claimOnward(tx, "default", turns, limit);
    }

    ClaimTable claims() {
        return claims;
    }

    /** Ends jobs as done; returns those that were still its own. */
    Set<Long> complete(List<ClaimedJob> jobs) {
        List<Ended> ended = jobs.stream()
                .map(job -> new Ended(job, new Verdict.Done(null), 0))
                .toList();
        while (true) {
            try {
                return shop.postroom.database().run(tx -> settler.complete(tx, ended));
            } catch (DatabaseException e) {
                // Somebody has one of them locked for long: a completer would go round it.
                assertThat(SqlState.isDisturbed(e.sqlState()))
                        .as(e.getMessage())
                        .isTrue();
            }
        }
    }

    /** The same with any verdict. */
    Set<Long> settle(List<Ended> ended) {
        return shop.postroom.database().transact(tx -> settler.settle(tx, ended));
    }

    boolean complete(ClaimedJob job) {
        return complete(List.of(job)).contains(job.id());
    }

    /** Of this worker, with nobody to look after. */
    Heart heart(Held held) {
        return new Heart(shop.postroom.database(), table, settings, held, List.of(), Kind.DEADLINE);
    }

    Reaper reaper() {
        return reaper(System::nanoTime);
    }

    /** With a clock that says when it tries again what it could not rescue. */
    Reaper reaper(LongSupplier nanos) {
        return reaper(nanos, Reaper.SPARED_MAX);
    }

    /** The same, which remembers so many of these. */
    Reaper reaper(LongSupplier nanos, int sparedMax) {
        return new Reaper(shop.postroom.database(), settler, settings, () -> true, Telemetry.NONE, nanos, sparedMax);
    }
}
