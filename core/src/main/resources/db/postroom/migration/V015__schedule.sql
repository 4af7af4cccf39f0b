-- Schedules: jobs that are enqueued again and again.

create table /*schema*/schedule (
    name         text        not null primary key,
    -- When: one of these three. A delay is counted from the end of the job before.
    cron         text,
    zone         text,
    rate         interval,
    delay        interval,
    -- What becomes of times that passed while nobody was there to see them: skip, once, all.
    missed       text        not null,
    -- Whether a job may be enqueued while the one before has not ended.
    overlap      boolean     not null,
    kind         text        not null,
    queue        text        not null,
    priority     integer     not null,
    tenant_id    text,
    payload      json        not null,
    headers      json,
    retry        text,
    deadline     interval,
    -- The next time to fire. Null for a delay whose job has not ended.
    next_at      timestamptz,
    last_at      timestamptz,
    last_job     bigint,
    paused_at    timestamptz,
    paused_by    text,
    pause_reason text,
    created_at   timestamptz not null default clock_timestamp(),
    constraint schedule_name check (name ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint schedule_when check (num_nonnulls(cron, rate, delay) = 1 and (cron is null) = (zone is null)),
    constraint schedule_period check (coalesce(rate, delay) between interval '1 s' and interval '366 days'),
    constraint schedule_next check (next_at is not null or delay is not null),
    constraint schedule_missed check (missed in ('skip', 'once', 'all')),
    constraint schedule_paused check (num_nonnulls(paused_at, paused_by, pause_reason) in (0, 3))
) with (fillfactor = 70);
create index schedule_due on /*schema*/schedule (next_at) where paused_at is null;

-- Each time that a schedule has fired or left out, once: the primary key decides between nodes that see it at the same time.
create table /*schema*/schedule_run (
    schedule text        not null,
    fire_at  timestamptz not null,
    -- The job; of a time that was skipped because the one before had not ended, that one; null if nobody saw the time.
    job_id   bigint,
    skipped  boolean     not null default false,
    -- How many times nobody saw, with this one and after it.
    missed   bigint      not null default 0,
    at       timestamptz not null default clock_timestamp(),
    primary key (schedule, fire_at)
);
create index schedule_run_at on /*schema*/schedule_run (at);
-- The last times of a schedule that nobody saw.
create index schedule_run_missed on /*schema*/schedule_run (schedule, fire_at) where missed > 0;

insert into /*schema*/migration (version, name) values (15, 'schedule');
