// Burns down jobs with graphile-worker, batched as its performance page says: node graphile.js URL JOBS; prints jobs a second.
// With the word sql instead of a number: makes its tables only; a job is taken into a caller's transaction by its function add_job.
// Some others are worked off before: what counts is how the code runs once it is compiled.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const [url, count] = [process.argv[2], Number(process.argv[3])];
const BATCH = 1000;
const WARM = 20000;
const CONCURRENT = 24;
const logger = new Logger(() => () => {});
const pool = new pg.Pool({ connectionString: url, max: 4 });

const utils = await makeWorkerUtils({ connectionString: url, logger });
await utils.migrate();

if (process.argv[3] === "sql") {
  await utils.release();
  await pool.end();
  process.exit(0);
}

async function add(jobs) {
  for (let added = 0; added < jobs; added += BATCH) {
    await utils.addJobs(Array.from({ length: BATCH }, (_, n) => ({ identifier: "noop", payload: { n: added + n } })));
  }
  await pool.query("vacuum analyze graphile_worker._private_jobs");
  await pool.query("checkpoint");
}

async function burn(jobs) {
  let ran = 0;
  let all;
  const done = new Promise((resolve) => (all = resolve));
  const runner = await run({
    connectionString: url,
    concurrency: CONCURRENT,
    maxPoolSize: 10,
    noHandleSignals: true,
    logger,
    preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: {
      noop: async () => {
        if (++ran === jobs) all();
      },
    },
  });
  await done;
  // Waits for what is being ended: what counts is what the database knows of.
  await runner.stop();
}

async function requireNone() {
  const left = await pool.query("select count(*)::int as jobs from graphile_worker._private_jobs");
  if (left.rows[0].jobs !== 0) throw new Error(`${left.rows[0].jobs} jobs are left`);
}

await add(WARM);
await burn(WARM);
await requireNone();
await add(count);

await pool.query("select bench_begin()");
const began = process.hrtime.bigint();
await burn(count);
const nanos = Number(process.hrtime.bigint() - began);
await requireNone();
console.log((count * 1e9) / nanos);
await utils.release();
await pool.end();
process.exit(0);
