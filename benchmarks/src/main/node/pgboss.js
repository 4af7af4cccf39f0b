// Burns down jobs with pg-boss, fetched and completed in batches by two loops: node pgboss.js URL JOBS; prints jobs a second.
// With the word sql instead of a number: makes the queue confirm, and prints the statement by which it takes a job into a caller's transaction.
// Some others are worked off before, of a queue that is gone then: what counts is how the code runs once it is compiled.
import { PgBoss } from "pg-boss";
import pg from "pg";

const [url, count] = [process.argv[2], Number(process.argv[3])];
const BATCH = 1000;
const WARM = 20000;
const LOOPS = 2;
const pool = new pg.Pool({ connectionString: url, max: 2 });

const boss = new PgBoss({ connectionString: url, max: 10 });
boss.on("error", (e) => console.error(e.message));
await boss.start();

if (process.argv[3] === "sql") {
  await boss.createQueue("confirm");
  const db = {
    executeSql: async (text) => {
      console.log(text);
      return { rows: [] };
    },
  };
  await boss.insert("confirm", [{ data: { n: 1 } }], { db });
  await boss.stop({ graceful: false });
  await pool.end();
  process.exit(0);
}

async function add(queue, jobs) {
  await boss.createQueue(queue);
  for (let added = 0; added < jobs; added += BATCH) {
    await boss.insert(queue, Array.from({ length: BATCH }, (_, n) => ({ data: { n: added + n } })));
  }
  await pool.query("vacuum analyze");
  await pool.query("checkpoint");
}

async function burn(queue, jobs) {
  let ran = 0;
  async function work() {
    while (ran < jobs) {
      const some = await boss.fetch(queue, { batchSize: BATCH });
      if (some.length === 0) break;
      await boss.complete(queue, some.map((job) => job.id));
      ran += some.length;
    }
  }
  await Promise.all(Array.from({ length: LOOPS }, work));
  if (ran !== jobs) throw new Error(`ran ${ran} of ${jobs} jobs`);
}

await add("warm", WARM);
await burn("warm", WARM);
await boss.deleteQueue("warm");
await add("noop", count);

await pool.query("select bench_begin()");
const began = process.hrtime.bigint();
await burn("noop", count);
console.log((count * 1e9) / Number(process.hrtime.bigint() - began));
await boss.stop({ graceful: false });
await pool.end();
process.exit(0);
