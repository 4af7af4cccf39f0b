package io.postroom.benchmark;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Jobs: what the queues of others do on the same server, what the database could do, and what Postroom does. */
final class Working {
    private static final String BURN = "Jobs: burn-down of jobs that do nothing";
    private static final String COST = "Jobs: what they cost";

    private final EmbeddedPostgres server;
    private final int many;
    private final int rounds;
    private final int warmUpSeconds;
    /** Of the last round. */
    private final Map<JobPeer, BenchDatabase.Cost> costs = new HashMap<>();

    Working(EmbeddedPostgres server, int many, int rounds, int warmUpSeconds) {
        this.server = server;
        this.many = many;
        this.rounds = rounds;
        this.warmUpSeconds = warmUpSeconds;
    }

    void run(Report report) throws Exception {
        RawClaim raw = new RawClaim();
        Burning ours = new Burning(0, false);
        Burning held = new Burning(0, true);
        Burning waiting = new Burning(Burning.MILLION, false);
        DbScheduler dbScheduler = new DbScheduler();
        JobRunrPeer jobRunr = new JobRunrPeer();
        List<JobPeer> all = new ArrayList<>(List.of(raw, ours, held, waiting, dbScheduler, jobRunr));
        List<JobPeer> node = List.of(
                new NodePeer("graphile-worker 0.18: local queue of 500, completions batched", "graphile.js"),
                new NodePeer("pg-boss 12.35: fetch and complete in batches of 1,000", "pgboss.js"));
        if (NodePeer.install()) {
            all.addAll(node);
        }
        Map<JobPeer, double[]> rates = burn(all);
        rates.forEach((peer, each) -> report.figure(BURN, peer.name(), Measure.median(each), "jobs/s"));
        double[] rate = rates.get(ours);
        boolean dbSchedulerIsBest = Measure.median(rates.get(dbScheduler)) >= Measure.median(rates.get(jobRunr));
        double[] best = rates.get(dbSchedulerIsBest ? dbScheduler : jobRunr);
        report.ratio(BURN, "against the best JVM peer", Measure.ratio(rate, best), 4);
        for (JobPeer peer : node) {
            String against = "against " + peer.name().split(":")[0];
            if (rates.containsKey(peer)) {
                report.ratio(BURN, against, Measure.ratio(rate, rates.get(peer)), 1);
            } else {
                report.absent(BURN, against, 1, "npm could not fetch it.");
            }
        }
        report.ratio(BURN, "against the raw claim", Measure.ratio(rate, rates.get(raw)), 0.5);
        report.ratio(BURN, "with a held snapshot against without", Measure.ratio(rates.get(held), rate), 0.8);
        report.ratio(BURN, "with a million waiting against without", Measure.ratio(rates.get(waiting), rate), 0.9);
        report.figure(BURN, "bulk enqueue of them, 1,000 a transaction", ours.enqueued(), "jobs/s");
        all.removeAll(List.of(held, waiting));
        for (JobPeer peer : all) {
            BenchDatabase.Cost cost = costs.get(peer);
            String name = peer.name().split(":")[0];
            report.figure(
                    COST, name + ": write-ahead log, from claim to end", cost.walBytes() / (double) many, "bytes/job");
            report.figure(COST, name + ": row versions left for vacuum", cost.deadRows() / (double) many, "rows/job");
        }
    }

    /** The rates of some rounds of each, in turn, each round on a database of its own. */
    private Map<JobPeer, double[]> burn(List<JobPeer> peers) throws Exception {
        for (JobPeer peer : peers) {
            warmUp(peer);
        }
        Map<JobPeer, double[]> rates = new LinkedHashMap<>();
        peers.forEach(peer -> rates.put(peer, new double[rounds]));
        List<JobPeer> order = new ArrayList<>(peers);
        for (int round = 0; round < rounds; round++) {
            for (JobPeer peer : order) {
                rates.get(peer)[round] = burn(peer, "round " + round);
            }
            // Who comes after whom changes: the server is still busy with what the one before has left behind.
            Collections.reverse(order);
        }
        return rates;
    }

    /** What counts is how the code runs once the compiler is done with it: the quick ones need as long for that as the slow ones. */
    private void warmUp(JobPeer peer) throws Exception {
        double seconds = 0;
        do {
            seconds += many / burn(peer, "warm-up");
        } while (peer.warmsUp() && seconds < warmUpSeconds);
    }

    private double burn(JobPeer peer, String round) throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            database.measureCosts();
            double rate = peer.burn(database, many);
            costs.put(peer, database.cost());
            System.out.printf("  %s: %s: %,.0f/s%n", round, peer.name(), rate);
            return rate;
        }
    }
}
