// Burns down jobs with pg-boss, fetched and completed in batches by two loops: node pgboss.js URL JOBS; prints jobs a second.
import { PgBoss } from "pg-boss";
import pg from "pg";

const [url, count] = [process.argv[2], Number(process.argv[3])];
const BATCH = 1000;
const LOOPS = 2;
const pool = new pg.Pool({ connectionString: url, max: 2 });

const boss = new PgBoss({ connectionString: url, max: 10 });
boss.on("error", (e) => console.error(e.message));
await boss.start();
await boss.createQueue("noop");
for (let added = 0; added < count; added += BATCH) {
  await boss.insert("noop", Array.from({ length: BATCH }, (_, n) => ({ data: { n: added + n } })));
}
await pool.query("vacuum analyze");
await pool.query("checkpoint");

const began = process.hrtime.bigint();
let ran = 0;
async function work() {
  while (ran < count) {
    const jobs = await boss.fetch("noop", { batchSize: BATCH });
    if (jobs.length === 0) break;
    await boss.complete("noop", jobs.map((job) => job.id));
    ran += jobs.length;
  }
}
await Promise.all(Array.from({ length: LOOPS }, work));
if (ran !== count) throw new Error(`ran ${ran} of ${count} jobs`);
console.log((count * 1e9) / Number(process.hrtime.bigint() - began));
await boss.stop({ graceful: false });
await pool.end();
process.exit(0);
