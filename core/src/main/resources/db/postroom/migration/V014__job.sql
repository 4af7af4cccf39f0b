-- Jobs: work for later. What has not ended is in job, one row each; what has ended is in job_done.

create table /*schema*/job (
    -- Half a page is left free: a claim writes a new version of the row, with an entry beside the old one's. In full pages every claim
    -- would look for dead entries in vain, and then split the page.
    id              bigint       not null generated always as identity primary key with (fillfactor = 50),
    queue           varchar(100) not null,
    kind            varchar(200) not null,
    -- Smaller goes first.
    priority        smallint     not null default 100,
    tenant_id       text,
    payload         json         not null,
    headers         json,
    -- ready    waits for a worker, or for what waits says
    -- running  a worker has claimed it
    state           text         not null default 'ready',
    -- Why a ready one cannot be claimed yet. time: until run_at. turn: until its limit lets it. jobs: until those it needs have ended.
    waits           text,
    -- The order of claims within a priority. A new one whenever the job becomes claimable, unless it is handed back: nobody who
    -- looks beyond a turn that was claimed misses what came later.
    turn            bigint       not null generated always as identity,
    run_at          timestamptz  not null default clock_timestamp(),
    -- Counted when it is claimed; not counted after all if the attempt is known not to have begun, or was interrupted.
    attempt         integer      not null default 0,
    -- A retry policy of its own, as text, and how many attempts that allows.
    retry           text,
    attempts_max    integer,
    -- For one attempt.
    deadline        interval,
    -- Grows with every claim, and whenever a claim ends without the job. Whoever names an older one changes nothing.
    fence           bigint       not null default 0,
    worker          uuid,
    claimed_at      timestamptz,
    -- If its worker lives and yet has not ended it by then, it is taken away.
    deadline_at     timestamptz,
    -- How many workers died while they had it.
    crashes         smallint     not null default 0,
    -- Whether this attempt is noted in begun_at before it begins: the last one, and each one after a crash. So whether it began is known
    -- for certain, and nobody pays with the last attempt for a neighbour that ends processes.
    exact           boolean      not null default false,
    begun_at        timestamptz,
    cancel_asked_at timestamptz,
    -- The dead letter it was redriven from.
    origin          bigint,
    -- No other job of its kind and tenant has this key while unique_while says so. ready: until it is claimed. open: until it has ended.
    unique_key      text,
    unique_while    text,
    -- What it is counted for. It has a seat while it waits for nothing, claimed or not.
    limit_name      text,
    limit_key       text,
    batch           bigint,
    -- What its handler said last, about this attempt or the one before.
    progress        json,
    created_at      timestamptz  not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
-- Only what can be claimed, in the order in which it is: by line, which is a number for a queue and a priority of it, and turn. A job that
-- goes into the middle of many is compared with two dozen others, and numbers are compared in a fraction of the time that names take.
-- Should two queues ever have the same numbers, a claim still takes only jobs of its own: it asks for the name as well. The
-- list of queues, which goes from number to number, then shows the claimable jobs of one of them only.
create index job_claim on /*schema*/job (((hashtextextended(queue, 0) << 16) + priority), turn) with (deduplicate_items = off)
    where state = 'ready' and waits is null;
create index job_due on /*schema*/job (run_at) where waits = 'time';
create index job_running on /*schema*/job (worker, deadline_at) where state = 'running';
-- Those below are empty for jobs without keys, limits and batches, which therefore pay nothing for them.
create unique index job_unique on /*schema*/job (kind, unique_key, coalesce(tenant_id, '')) where unique_while is not null;
-- Who has a seat: waits is null. Who waits for one, and in which order: waits = 'turn'. What it waits for comes first: whoever goes from key
-- to key of those that wait for their turn passes none that waits for tomorrow.
create index job_limited on /*schema*/job (waits, limit_name, limit_key, state, priority, turn) where limit_name is not null;
create index job_batch_open on /*schema*/job (batch) where batch is not null;

-- Who runs it is known if and only if it runs, and then it waits for nothing. Not a check: PostgreSQL reads the checks of a table, and of the
-- domains of its columns, anew for every insert, and whoever enqueues has no right to the columns of this one. After the update: before it, each row would be locked once more.
create function /*schema*/refuse_job_state()
    returns trigger
    language plpgsql
as
$$
begin
    raise exception using errcode = 'check_violation', constraint = tg_name, schema = tg_table_schema, table = tg_table_name,
        message = format('job %s cannot be %s with worker %s, claimed at %s, deadline at %s, attempt %s and waits %s',
                         new.id, new.state, new.worker, new.claimed_at, new.deadline_at, new.attempt, new.waits),
        hint = 'jobs change by Postroom''s own statements: use postroom job retry or cancel';
end
$$;
revoke all on function /*schema*/refuse_job_state() from public;
create trigger job_state after update on /*schema*/job for each row
    when (new.state not in ('ready', 'running') or new.attempt < 0
          or num_nonnulls(new.worker, new.claimed_at, new.deadline_at) <> case new.state when 'ready' then 0 else 3 + num_nonnulls(new.waits) end)
    execute function /*schema*/refuse_job_state();

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
    unique_key   text,
    batch        bigint,
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
create index job_done_unique on /*schema*/job_done (kind, unique_key, ended_at) where unique_key is not null;
create index job_done_batch on /*schema*/job_done (batch, state) where batch is not null;

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
-- Whether what others wait for has failed: ends are forgotten, dead letters are not.
create index dead_letter_job on /*schema*/dead_letter (position, id) where source = 'job';
create index dead_letter_batch on /*schema*/dead_letter (((job ->> 'batch')::bigint), resolution)
    where source = 'job' and (job ->> 'batch')::bigint is not null;

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

-- Queues that operators have paused. A queue needs no row to be used.
create table /*schema*/job_queue (
    name         text        not null primary key,
    paused_at    timestamptz,
    paused_by    text,
    pause_reason text,
    constraint job_queue_name check (name ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint job_queue_paused check (num_nonnulls(paused_at, paused_by, pause_reason) in (0, 3))
);

-- How many jobs of one key may run, or start in a time, or stand in line. A job that names a limit waits for its turn.
create table /*schema*/job_limit (
    name        text        not null primary key,
    -- How many of one key may have been let through and not ended.
    concurrency integer,
    -- How many of one key are let through in a time, and how many of them at once.
    rate        integer,
    per         interval,
    burst       integer,
    -- How many of one key may have been let through and not begun: so that whoever has many leaves room for the others.
    line        integer,
    changed_at  timestamptz not null default clock_timestamp(),
    constraint job_limit_name check (name ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint job_limit_form check (
        num_nonnulls(rate, per, burst) in (0, 3) and num_nonnulls(concurrency, rate, line) > 0
        and concurrency between 1 and 100000 and rate between 1 and 1000000 and burst between 1 and rate
        and per between interval '1 ms' and interval '1 day' and line between 1 and 100000)
);

-- Until when the rate of a key is used up. Written only by whoever lets jobs through, one at a time for each limit.
create table /*schema*/job_rate (
    limit_name text        not null,
    limit_key  text        not null,
    used_until timestamptz not null,
    primary key (limit_name, limit_key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);

-- Jobs that belong together. How many have ended is counted where they are.
create table /*schema*/job_batch (
    id         bigint      not null generated always as identity primary key,
    name       text        not null,
    created_at timestamptz not null default clock_timestamp(),
    -- Set when the end of a job of it that was cancelled is forgotten: whoever waits for all of them must not forget.
    cancelled_at timestamptz,
    constraint job_batch_name check (length(name) between 1 and 200)
);

-- What a job that waits for others still waits for. Rows go when what is needed has ended as it should.
create table /*schema*/job_need (
    -- Whether need is a batch, all jobs of which are meant.
    of_batch boolean not null,
    need     bigint  not null,
    job_id   bigint  not null,
    -- Whether a bad end will do too.
    any_end  boolean not null,
    -- How the job that is needed ended, kept in mind when its end is forgotten before anybody has looked.
    ended    text,
    primary key (of_batch, need, job_id)
);
create index job_need_job on /*schema*/job_need (job_id);

-- Enqueues a job that is bound to others: by a unique key, a limit, a batch, or because it comes after them. Answers with its id, or
-- with that of the job that has the key (skipped), or with a problem. For Java and enqueue, which check everything else. With the
-- owner's rights: whoever enqueues may not read jobs.
--
-- The index on keys decides, and waits for whoever has not committed. Whether such a job was done a short while ago is asked after the
-- insert: whatever had the key has committed its end by then, and the question sees it.
create function /*schema*/enqueue_bound(
    kind text, queue text, priority integer, tenant_id text, payload json, headers json, run_at timestamptz, run_after interval,
    retry text, attempts_max integer, deadline interval, unique_key text, unique_while text, unique_within interval, limit_name text,
    limit_key text, batch bigint, after_jobs bigint[], after_batches bigint[], after_any_end boolean,
    out id bigint, out skipped boolean, out code text, out problem text
)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
#variable_conflict use_variable
declare
    due      constant timestamptz := coalesce(run_at, clock_timestamp() + run_after);
    has_need boolean              := coalesce(cardinality(after_jobs), 0) + coalesce(cardinality(after_batches), 0) > 0;
    waits_for bigint[];
    since     timestamptz;
    since_day date;
    missing  bigint;
    found_id bigint;
begin
    skipped := false;
    if limit_name is not null and not exists (select from /*schema*/job_limit as l where l.name = limit_name) then
        code := 'limit-unknown';
        problem := format('there is no limit %s; declare it first', limit_name);
        return;
    elsif batch is not null and not exists (select from /*schema*/job_batch as b where b.id = batch) then
        code := 'batch-unknown';
        problem := format('there is no batch %s; begin one first', batch);
        return;
    end if;
    if has_need then
        select n.id into missing
        from unnest(after_jobs) as n (id)
        where not exists (select from /*schema*/job as j where j.id = n.id)
          and not exists (select from /*schema*/job_done as d where d.id = n.id)
        limit 1;
        if missing is not null then
            code := 'need-unknown';
            problem := format('it comes after job %s, which there is not, or which was forgotten; check the id', missing);
            return;
        end if;
        select n.id into missing
        from unnest(after_batches) as n (id)
        where not exists (select from /*schema*/job_batch as b where b.id = n.id)
        limit 1;
        if missing is not null then
            code := 'need-unknown';
            problem := format('it comes after batch %s, which there is not; check the id', missing);
            return;
        end if;
        -- What has ended as it should is not waited for: its end may be forgotten before anybody looks.
        select array_agg(n.id) into waits_for
        from unnest(after_jobs) as n (id)
        where exists (select from /*schema*/job as j where j.id = n.id)
           or not coalesce((select after_any_end or d.state = 'done' from /*schema*/job_done as d where d.id = n.id
                            order by d.ended_at desc limit 1), false);
        has_need := coalesce(cardinality(waits_for), 0) + coalesce(cardinality(after_batches), 0) > 0;
    end if;

    for tries in 1..100 loop
        insert into /*schema*/job as j (kind, queue, priority, tenant_id, payload, headers, run_at, waits, retry, attempts_max, deadline,
                                        unique_key, unique_while, limit_name, limit_key, batch)
        values (kind, queue, priority, tenant_id, payload, headers, coalesce(due, clock_timestamp()),
                case when has_need then 'jobs' when due > clock_timestamp() then 'time' when limit_name is not null then 'turn' end,
                retry, attempts_max, deadline, unique_key, case when unique_key is not null then unique_while end, limit_name, limit_key,
                batch)
        on conflict do nothing
        returning j.id into id;
        if id is not null then
            if unique_within is not null then
                -- A value, not the clock: days that are too old are not looked into.
                since := clock_timestamp() - unique_within;
                since_day := (since at time zone 'utc')::date - 1;
                select d.id into found_id
                from /*schema*/job_done as d
                where d.kind = enqueue_bound.kind and d.unique_key = enqueue_bound.unique_key
                  and d.tenant_id is not distinct from enqueue_bound.tenant_id and d.state = 'done'
                  and d.ended_at > since and d.day >= since_day
                order by d.ended_at desc
                limit 1;
                if found_id is not null then
                    delete from /*schema*/job as j where j.id = enqueue_bound.id;
                    id := found_id;
                    skipped := true;
                    return;
                end if;
            end if;
            insert into /*schema*/job_need (of_batch, need, job_id, any_end)
            select false, n.id, enqueue_bound.id, after_any_end from unnest(waits_for) as n (id)
            union
            select true, n.id, enqueue_bound.id, after_any_end from unnest(after_batches) as n (id);
            return;
        end if;
        select j.id into id
        from /*schema*/job as j
        where j.kind = enqueue_bound.kind and j.unique_key = enqueue_bound.unique_key and j.unique_while is not null
          and coalesce(j.tenant_id, '') = coalesce(enqueue_bound.tenant_id, '');
        if id is not null then
            skipped := true;
            return;
        end if;
        -- It has ended, or was claimed, between the two.
    end loop;
    code := 'unique-key-busy';
    problem := format('jobs with unique key %L came and went a hundred times while it tried; try again', unique_key);
end
$$;
revoke all on function /*schema*/enqueue_bound(text, text, integer, text, json, json, timestamptz, interval, text, integer, interval, text,
                                               text, interval, text, text, bigint, bigint[], bigint[], boolean) from public;

-- How many attempts a retry policy that is written as text allows, and what is wrong with it, if anything is. The rules are those of
-- RetryPolicy.parse in Java.
create function /*schema*/retry_policy(policy text, out attempts integer, out problem text)
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as
$$
declare
    words   constant text[] := regexp_split_to_array(btrim(policy, E' \t\r\n'), '\s+');
    form    constant text   := words[1];
    growth  constant text   := case form when 'linear' then 'step' when 'quadratic' then 'unit' else 'first' end;
    cap     interval := case form when 'quick' then '5 min' when 'linear' then '4 min' else '1 h' end;
    unit    interval := case form when 'linear' then '30 s' when 'quadratic' then '5 s' else '1 s' end;
    given   text[]   := '{}';
    word    text;
    setting text;
    value   text;
begin
    attempts := case form when 'quick' then 5 else 10 end;
    if length(policy) > 500 then
        problem := format('it is %s characters, the most is 500', length(policy));
        return;
    elsif form not in ('quick', 'linear', 'quadratic', 'exponential') then
        problem := format('there is none named %L; the names are quick, linear, quadratic, exponential', left(form, 60));
        return;
    end if;
    foreach word in array words[2:] loop
        setting := split_part(word, '=', 1);
        value := substr(word, length(setting) + 2);
        if setting <> all (array[growth, 'attempts', 'immediate', 'cap', 'jitter']) then
            problem := format('%L is not a setting of %s; the settings are %s, attempts, immediate, cap, jitter', left(setting, 60), form,
                              growth);
        elsif setting = any (given) then
            problem := format('%s is there twice', setting);
        elsif setting in ('attempts', 'immediate') and value !~ '^\d{1,9}$' then
            problem := format('%s is %L, which is not a whole number', setting, left(value, 60));
        elsif setting in ('attempts', 'immediate') and value::integer not between 1 and 1000 then
            problem := format('%s is %s, the range is 1 to 1000', setting, value);
        elsif setting = 'jitter' and (value !~ '^\d{1,3}(\.\d{1,9})?$' or value::numeric > 1) then
            problem := format('jitter is %L, which is not a share from 0 to 1, such as 0.2', left(value, 60));
        elsif setting in (growth, 'cap') and value !~ '^\d{1,9}(ms|s|m|min|h|d)$' then
            problem := format('%s is %L, which is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h or 7d', setting,
                              left(value, 60));
        end if;
        exit when problem is not null;
        given := given || setting;
        case setting
            when 'attempts' then attempts := value::integer;
            when 'cap' then cap := value::interval;
            when growth then unit := value::interval;
            else null;
        end case;
    end loop;
    if problem is null and cap not between interval '1 ms' and interval '30 d' then
        problem := format('cap is %s, the range is 1 ms to 30 d', cap);
    elsif problem is null and unit not between interval '1 ms' and cap then
        problem := format('%s is %s, the range is 1 ms to the cap, %s', growth, unit, cap);
    end if;
end
$$;
revoke all on function /*schema*/retry_policy(text) from public;

-- Enqueues a job from SQL, in the caller's transaction, and returns its id; null if another one has its unique key. The rules are those of JobRules in Java; a broken one is an
-- error with SQLSTATE 22023 whose detail is the rule's code.
create function /*schema*/enqueue(
    kind      text,
    payload   json        default '{}',
    queue     text        default 'default',
    priority  integer     default 100,
    run_at    timestamptz default null,
    run_after interval    default null,
    tenant_id text        default null,
    headers   json        default null,
    retry     text        default null,
    deadline  interval    default null,
    unique_key    text     default null,
    unique_while  text     default 'open',
    unique_within interval default null,
    limit_name    text     default null,
    limit_key     text     default null,
    batch         bigint   default null,
    after_jobs    bigint[] default null,
    after_batches bigint[] default null,
    after_any_end boolean  default false
)
    returns bigint
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as
$$
#variable_conflict use_variable
declare
    -- Not [[:cntrl:]]: what that means depends on the database's locale.
    control  constant text := '[\u0001-\u001f\u007f-\u009f]';
    code     text;
    problem  text;
    attempts integer;
    job_id   bigint;
begin
    if kind is null or kind !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]*$' or length(kind) > 200 then
        code := 'kind-invalid';
        problem := format('kind is %s, it must be 1 to 200 letters, digits or _ . : / -, beginning with a letter or digit',
                          coalesce(quote_literal(regexp_replace(left(kind, 60), control, '?', 'g')), 'null'));
    elsif queue is null or queue !~ '^[a-z][a-z0-9_.-]{0,99}$' then
        code := 'queue-invalid';
        problem := format('queue is %s, it must be a lower-case letter and up to 99 letters, digits or _ . -',
                          coalesce(quote_literal(regexp_replace(left(queue, 60), control, '?', 'g')), 'null'));
    elsif priority is null or priority not between 0 and 999 then
        code := 'priority-invalid';
        problem := format('priority is %s, the range is 0 to 999', coalesce(priority::text, 'null'));
    elsif run_at is not null and run_after is not null then
        code := 'run-at-invalid';
        problem := 'it has both a time and a wait; give one of them';
    elsif not run_at between '0001-01-01 00:00:00Z' and '9999-12-31 23:59:59.999999Z' then
        code := 'run-at-invalid';
        problem := format('run at is %s, the range is year 1 to 9999', run_at);
    elsif not run_after between interval '0' and interval '3660 days' then
        code := 'run-after-invalid';
        problem := format('run after is %s, the range is 0 to 3660 days', run_after);
    elsif not deadline between interval '1 ms' and interval '7 days' then
        code := 'deadline-invalid';
        problem := format('deadline is %s, the range is 1 ms to 7 days', deadline);
    elsif length(tenant_id) not between 1 and 200 or tenant_id ~ control then
        code := 'tenant-id-invalid';
        problem := format('tenant id is %L, it must be 1 to 200 characters without control characters',
                          regexp_replace(left(tenant_id, 60), control, '?', 'g'));
    elsif length(unique_key) not between 1 and 200 or unique_key ~ control or unique_key is null and unique_within is not null then
        code := 'unique-key-invalid';
        problem := format('unique key is %s, it must be 1 to 200 characters without control characters',
                          coalesce(quote_literal(regexp_replace(left(unique_key, 60), control, '?', 'g')), 'null'));
    elsif unique_while is null or unique_while not in ('ready', 'open') then
        code := 'unique-while-invalid';
        problem := format('unique while is %s, it must be ready or open', coalesce(quote_literal(left(unique_while, 60)), 'null'));
    elsif not unique_within between interval '1 ms' and interval '6 days' then
        code := 'unique-within-invalid';
        problem := format('unique within is %s, the range is 1 ms to 6 days', unique_within);
    elsif (limit_name is null) <> (limit_key is null) or limit_name !~ '^[a-z][a-z0-9_.-]{0,99}$' then
        code := 'limit-name-invalid';
        problem := format('limit name is %s, it must be a lower-case letter and up to 99 letters, digits or _ . -, and has a key',
                          coalesce(quote_literal(regexp_replace(left(limit_name, 60), control, '?', 'g')), 'null'));
    elsif length(limit_key) not between 1 and 200 or limit_key ~ control then
        code := 'limit-key-invalid';
        problem := format('limit key is %L, it must be 1 to 200 characters without control characters',
                          regexp_replace(left(limit_key, 60), control, '?', 'g'));
    elsif coalesce(cardinality(after_jobs), 0) + coalesce(cardinality(after_batches), 0) > 100 then
        code := 'needs-too-many';
        problem := format('it needs %s others, the most is 100; put them into a batch, and need that',
                          coalesce(cardinality(after_jobs), 0) + coalesce(cardinality(after_batches), 0));
    elsif after_any_end is null then
        code := 'after-any-end-invalid';
        problem := 'after any end is null, it must be true or false';
    end if;
    if code is null and retry is not null then
        select policy.attempts, policy.problem into attempts, problem from /*schema*/retry_policy(retry) as policy;
        if problem is not null then
            code := 'retry-invalid';
            problem := format('retry policy %L cannot be read: %s', regexp_replace(left(retry, 60), control, '?', 'g'), problem);
        end if;
    end if;
    if code is null then
        select content.code, replace(content.problem, 'publish', 'enqueue') into code, problem
        from /*schema*/content_problem(payload, headers) as content;
    end if;
    if code is null then
        -- By its name alone: what follows is for jobs that are bound to others.
        if num_nonnulls(unique_key, limit_name, batch, after_jobs, after_batches) = 0 then
            run_at := coalesce(run_at, clock_timestamp() + run_after);
            insert into /*schema*/job as j (kind, queue, priority, tenant_id, payload, headers, run_at, waits, retry, attempts_max, deadline)
            values (kind, queue, priority, tenant_id, payload, headers, coalesce(run_at, clock_timestamp()),
                    case when run_at > clock_timestamp() then 'time' end, retry, attempts, deadline)
            returning j.id into job_id;
            return job_id;
        end if;
        select case when not bound.skipped then bound.id end, bound.code, bound.problem into job_id, code, problem
        from /*schema*/enqueue_bound(kind, queue, priority, tenant_id, payload, headers, run_at, run_after, retry, attempts, deadline,
                                     unique_key, unique_while, unique_within, limit_name, limit_key, batch, after_jobs, after_batches,
                                     after_any_end) as bound;
        if code is null then
            return job_id;
        end if;
    end if;
    raise exception 'could not enqueue job of kind %: %',
        coalesce(regexp_replace(left(kind, 60), control, '?', 'g'), 'null'), problem using errcode = '22023', detail = 'job.' || code;
end
$$;
revoke all on function /*schema*/enqueue(text, json, text, integer, timestamptz, interval, text, json, text, interval, text, text, interval,
                                         text, text, bigint, bigint[], bigint[], boolean) from public;

-- Takes one step in forgetting the days of job_done or of job_attempt that are older than what is kept, and says what it did; null: nothing
-- is left to do.
--   log    which of the two   kept   how long days are kept   after   days up to this one are left alone
-- Answers with outcome:
--   emptied  the day is empty now, and its space is free
--   dropped  the empty day is gone
--   late     somebody has written into that day lately: it is left alone
--   locked   somebody holds a lock on it for longer than we wait
--   purged   some rows outside of daily partitions are gone
-- Emptying holds up nobody but who writes into that very day. Dropping needs a lock on the whole table, for a moment, and is left for
-- another time if it is not there at once.
create function /*schema*/forget_job_day(log text, kept interval, after date default '-infinity', out day date, out outcome text)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '200ms'
as
$$
declare
    at_column constant text := case log when 'job_done' then 'ended_at' when 'job_attempt' then 'at' end;
    parent    regclass;
    partition regclass;
    kept_from timestamptz;
    found     boolean;
    purged    integer;
begin
    if at_column is null or kept is null or kept < interval '1 hour' then
        raise exception 'could not forget days of %: it must be job_done or job_attempt, and kept, %, one hour or more',
            coalesce(log, 'null'), coalesce(kept::text, 'null') using errcode = '22023';
    end if;
    parent := ('/*schema*/' || log)::regclass;
    kept_from := clock_timestamp() - kept;
    select to_date(right(class.relname, 8), 'YYYYMMDD'), class.oid::regclass into day, partition
    from pg_inherits as child
    join pg_class as class on class.oid = child.inhrelid
    where child.inhparent = parent
      and class.relname ~ ('^' || log || '_[0-9]{8}$')
      and to_date(right(class.relname, 8), 'YYYYMMDD') > after
      and to_date(right(class.relname, 8), 'YYYYMMDD') < (kept_from at time zone 'utc')::date
    order by 1
    limit 1;
    if day is null then
        if log = 'job_done' then
            with gone as (
                delete from only /*schema*/job_done_default as d
                where d.ctid in (
                    select o.ctid from only /*schema*/job_done_default as o where o.day < (kept_from at time zone 'utc')::date limit 10000)
                returning d.id, d.ended_at, d.batch, d.state
            ), needed as (
                update /*schema*/job_need as n
                set ended = (
                    select case when g.state = 'done' then 'done' else 'cancelled' end
                    from gone as g where g.id = n.need order by g.ended_at desc limit 1)
                where not n.of_batch and n.need in (select g.id from gone as g)
            ), kept_in_mind as (
                update /*schema*/job_batch as b
                set cancelled_at = clock_timestamp()
                where b.cancelled_at is null and b.id in (select g.batch from gone as g where g.state = 'cancelled')
            )
            select count(*) into purged from gone;
        else
            delete from only /*schema*/job_attempt_default as a
            where a.ctid in (
                select o.ctid from only /*schema*/job_attempt_default as o where o.day < (kept_from at time zone 'utc')::date limit 10000);
            get diagnostics purged = row_count;
        end if;
        if purged > 0 then
            day := (kept_from at time zone 'utc')::date;
            outcome := 'purged';
        end if;
        return;
    end if;
    begin
        execute format('select exists (select 1 from only %s)', partition) into found;
        if found then
            -- Whoever has written into that day has not committed yet, or waits for us: what was found before the lock may be wrong.
            execute format('lock table only %s in access exclusive mode', partition);
            execute format('select exists (select 1 from only %s where %I >= $1)', partition, at_column) into found using kept_from;
            if found then
                outcome := 'late';
            else
                if log = 'job_done' then
                    execute format('update /*schema*/job_batch as b set cancelled_at = clock_timestamp() where b.cancelled_at is null'
                                   || ' and b.id in (select d.batch from only %s as d where d.batch is not null and d.state = ''cancelled'')',
                                   partition);
                    -- What failed has a dead letter, which is asked first; without one it was discarded.
                    execute format('update /*schema*/job_need as n set ended = (select case when d.state = ''done'' then ''done'''
                                   || ' else ''cancelled'' end from only %1$s as d where d.id = n.need order by d.ended_at desc limit 1)'
                                   || ' where not n.of_batch and n.need in (select d.id from only %1$s as d)', partition);
                end if;
                execute format('truncate table only %s', partition);
                outcome := 'emptied';
            end if;
        else
            execute format('lock table only %s in access exclusive mode', parent);
            execute format('lock table only %s in access exclusive mode', partition);
            execute format('select exists (select 1 from only %s)', partition) into found;
            if found then
                outcome := 'late';
            else
                execute format('drop table %s', partition);
                outcome := 'dropped';
            end if;
        end if;
    exception
        when lock_not_available then outcome := 'locked';
    end;
end
$$;
revoke all on function /*schema*/forget_job_day(text, interval, date) from public;

insert into /*schema*/migration (version, name) values (14, 'job');
