-- Jobs: work for later. What has not ended is in job, one row each; what has ended is in job_done.

create table /*schema*/job (
    id              bigint      not null generated always as identity primary key,
    queue           text        not null,
    kind            text        not null,
    -- Smaller goes first.
    priority        smallint    not null default 100,
    tenant_id       text,
    payload         json        not null,
    headers         json,
    -- ready    waits for a worker, or for what waits says
    -- running  a worker has claimed it
    state           text        not null default 'ready',
    -- Why a ready one cannot be claimed yet. time: until run_at.
    waits           text,
    -- The order of claims within a priority. A new one whenever the job becomes claimable: nobody who looks beyond a turn that was
    -- claimed misses what came later.
    turn            bigint      not null generated always as identity,
    run_at          timestamptz not null default clock_timestamp(),
    -- Counted when it is claimed; not counted after all if the attempt is known not to have begun, or was interrupted.
    attempt         integer     not null default 0,
    -- A retry policy of its own, as text, and how many attempts that allows.
    retry           text,
    attempts_max    integer,
    -- For one attempt.
    deadline        interval,
    -- Grows with every claim, and whenever a claim ends without the job. Whoever names an older one changes nothing.
    fence           bigint      not null default 0,
    worker          uuid,
    claimed_at      timestamptz,
    -- If its worker lives and yet has not ended it by then, it is taken away.
    deadline_at     timestamptz,
    -- How many workers died while they had it.
    crashes         smallint    not null default 0,
    -- Whether this attempt is noted in begun_at before it begins: the last one, and each one after a crash. So whether it began is known
    -- for certain, and nobody pays with the last attempt for a neighbour that ends processes.
    exact           boolean     not null default false,
    begun_at        timestamptz,
    cancel_asked_at timestamptz,
    -- The dead letter it was redriven from.
    origin          bigint,
    created_at      timestamptz not null default clock_timestamp(),
    -- Few and short: PostgreSQL reads the text of each check anew for every insert.
    constraint job_state check (
        state in ('ready', 'running') and (state = 'running') = (worker is not null) and num_nonnulls(worker, claimed_at, deadline_at) in (0, 3)
        and (waits is null or waits = 'time' and state = 'ready')),
    constraint job_form check (
        priority between 0 and 999 and length(queue) between 1 and 100 and length(kind) between 1 and 200 and attempt >= 0)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
-- Only what can be claimed, in the order in which it is.
create index job_claim on /*schema*/job (queue, priority, turn) where state = 'ready' and waits is null;
create index job_due on /*schema*/job (run_at) where waits = 'time';
create index job_running on /*schema*/job (worker, deadline_at) where state = 'running';

-- What has ended, as it was, and how. Rows are added, never changed; old days go as a whole.
create table /*schema*/job_done (
    id           bigint      not null,
    day          date        not null default (clock_timestamp() at time zone 'utc')::date,
    queue        text        not null,
    kind         text        not null,
    priority     smallint    not null,
    tenant_id    text,
    payload      json        not null,
    headers      json,
    -- done, failed (a dead letter then) or cancelled.
    state        text        not null,
    run_at       timestamptz not null,
    attempt      integer     not null,
    retry        text,
    attempts_max integer,
    deadline     interval,
    fence        bigint      not null,
    worker       uuid,
    claimed_at   timestamptz,
    origin       bigint,
    created_at   timestamptz not null,
    ended_at     timestamptz not null default clock_timestamp(),
    -- Who said so: the name of a worker, or of an operator.
    ended_by     text        not null,
    result       json,
    error_class  text,
    error        text,
    fingerprint  text,
    constraint job_done_state check (
        state in ('done', 'failed', 'cancelled') and (state = 'failed') = (error_class is not null)
        and num_nonnulls(error_class, error, fingerprint) in (0, 3) and (result is null or state = 'done'))
) partition by range (day);
-- Not unique: a job that is redriven ends again.
create index job_done_id on /*schema*/job_done (id);

-- Attempts that did not end with the job done: how each ended, for as long as its partition is kept.
create table /*schema*/job_attempt (
    job_id      bigint      not null,
    day         date        not null default (clock_timestamp() at time zone 'utc')::date,
    attempt     integer     not null,
    fence       bigint      not null,
    -- When it ended.
    at          timestamptz not null default clock_timestamp(),
    -- Since it began; since it was claimed if nobody knows when it began.
    duration    interval    not null,
    worker      text        not null,
    -- failed, timed_out, lost (its worker died or hung), interrupted, snoozed, unavailable, cancelled.
    outcome     text        not null,
    error_class text,
    error       text,
    fingerprint text,
    constraint job_attempt_error check (num_nonnulls(error_class, error, fingerprint) in (0, 3))
) partition by range (day);
create index job_attempt_job on /*schema*/job_attempt (job_id, at);

insert into /*schema*/daily_table (name, has_default, unique_column) values ('job_attempt', true, null), ('job_done', true, null);
select count(*) from /*schema*/keep_partitions();

-- The processes that work, one row each: heartbeats are theirs, never a job's.
create table /*schema*/worker (
    id           uuid        not null primary key,
    name         text        not null,
    host         text        not null,
    queues       text[]      not null,
    started_at   timestamptz not null default clock_timestamp(),
    beat_at      timestamptz not null default clock_timestamp(),
    -- From then on its jobs are taken away.
    leased_until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Jobs that failed are dead letters too: their position is the id of the job.
alter table /*schema*/dead_letter
    -- What a job has that a message has not: priority, retry policy, deadline, fence.
    add column job jsonb,
    drop constraint dead_letter_source,
    add constraint dead_letter_source check (source in ('subscription', 'kafka', 'job'));

-- The last hundred attempts at a job that did not end with it done, as its dead letter keeps them.
create function /*schema*/job_history(job_id bigint)
    returns jsonb
    language sql
    stable
as
$$
    select coalesce(jsonb_agg(jsonb_build_object('attempt', a.attempt, 'at', a.at, 'seconds', extract(epoch from a.duration),
                                                 'node', a.worker, 'outcome', a.outcome, 'errorClass', a.error_class,
                                                 'error', a.error, 'fingerprint', a.fingerprint)
                              order by a.at),
                    '[]')
    from (
        select t.attempt, t.at, t.duration, t.worker, t.outcome, t.error_class, t.error, t.fingerprint
        from /*schema*/job_attempt as t
        where t.job_id = $1
        order by t.at desc
        limit 100
    ) as a
$$;
revoke all on function /*schema*/job_history(bigint) from public;

insert into /*schema*/migration (version, name) values (14, 'job');
