-- Receiving once: what consumers have accepted; messages by their position, for any reader; how far readers have come.

-- Null: the parent has an index of its own, of which every partition gets its part.
alter table /*schema*/daily_table alter column unique_column drop not null;

-- As before, and without an index where a table has none of that kind. And nobody is kept waiting by a default partition that was filled
-- while nobody made partitions: PostgreSQL reads all of it, locked against everybody, to attach another beside it, unless a constraint named
-- <table>_default_ahead says that there is nothing of that day; see docs/operating/partitions.md.
create or replace function /*schema*/keep_partitions(lead_days integer default 7)
    returns setof text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    -- For another node that is making partitions; see below for the tables.
    set lock_timeout = '10s'
as
$$
declare
    parent    record;
    today     date := (clock_timestamp() at time zone 'utc')::date;
    day       date;
    partition text;
    strays    text;
    found     boolean;
    crowded   boolean;
begin
    if lead_days is null or lead_days not between 1 and 366 then
        raise exception 'could not make partitions: lead_days is %, the range is 1 to 366', coalesce(lead_days::text, 'null')
            using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('/*schema*/keep_partitions', 0));
    perform set_config('lock_timeout', '200ms', true);
    for parent in
        select daily.name, daily.has_default, daily.unique_column, namespace.nspname
        from /*schema*/daily_table as daily
        join pg_class as class on class.oid = ('/*schema*/' || quote_ident(daily.name))::regclass
        join pg_namespace as namespace on namespace.oid = class.relnamespace
        order by daily.name
    loop
        partition := parent.name || '_default';
        strays := format('%I.%I', parent.nspname, partition);
        if parent.has_default and to_regclass(format('%I.%I', parent.nspname, partition)) is null then
            execute format('create table %1$I.%2$I partition of %1$I.%3$I default', parent.nspname, partition, parent.name);
            if parent.unique_column is not null then
                execute format('create unique index on %I.%I (%I)', parent.nspname, partition, parent.unique_column);
            end if;
            execute format('create index on %s (day)', strays);
            return next partition;
        end if;
        -- Only while writers use it: what has its own partition today is in nobody's way.
        crowded := parent.has_default
            and to_regclass(format('%I.%I', parent.nspname, parent.name || '_' || to_char(today, 'YYYYMMDD'))) is null
            and pg_relation_size(strays::regclass) > 67108864 and not exists (
            select
            from pg_constraint
            where conrelid = strays::regclass and conname = parent.name || '_default_ahead' and convalidated
        );
        for day in select generate_series(today - 1, today + lead_days, interval '1 day')::date
        loop
            partition := parent.name || '_' || to_char(day, 'YYYYMMDD');
            continue when to_regclass(format('%I.%I', parent.nspname, partition)) is not null;
            if parent.has_default then
                -- What is there already stays there, is found there, and is not to be tried again every hour.
                execute format('select exists (select from %s where day = %L)', strays, day) into found;
                continue when found;
            end if;
            if crowded then
                raise warning 'could not make partition %: % has % bytes, and nobody could write there while PostgreSQL reads them; see'
                    ' docs/operating/partitions.md', partition, strays, pg_relation_size(strays::regclass);
                exit;
            end if;
            begin
                execute format(
                    'create table %1$I.%2$I (like %1$I.%3$I including defaults including constraints including storage)',
                    parent.nspname, partition, parent.name);
                if parent.unique_column is not null then
                    execute format('create unique index on %I.%I (%I)', parent.nspname, partition, parent.unique_column);
                end if;
                execute format(
                    'alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$L) to (%5$L)',
                    parent.nspname, partition, parent.name, day, day + 1);
                return next partition;
            exception
                -- Rows of that day have just come.
                when check_violation then null;
                when lock_not_available then
                    raise warning 'could not make partition %: somebody holds a lock on % or its default partition; it will be'
                        ' tried again', partition, parent.name;
                    exit;
            end;
        end loop;
    end loop;
end
$$;

-- The day of the inbox that a message belongs to: the one in an id of version 7, which carries its time; else none. It depends on the
-- id alone, so that every copy of a message, whenever it comes, meets the same unique index.
create function /*schema*/inbox_day(message_id uuid)
    returns date
    language sql
    immutable
    parallel safe
return case
    when get_byte(uuid_send(message_id), 6) >> 4 = 7 and get_byte(uuid_send(message_id), 8) >> 6 = 2
        then date '1970-01-01'
             + (('x' || encode(substring(uuid_send(message_id) from 1 for 6), 'hex'))::bit(48)::bigint / 86400000)::integer
    else date '-infinity'
end;

-- What a consumer has accepted. A row is written in the transaction of its effect, and never changed.
create table /*schema*/inbox (
    consumer     text        not null,
    message_id   uuid        not null,
    day          date        not null,
    payload_hash bytea       not null,
    accepted_at  timestamptz not null default clock_timestamp(),
    -- As good as unique without the day, because the id decides the day. The id first: without statistics the planner believes that a
    -- consumer has few rows, and would read them all.
    primary key (message_id, consumer, day),
    constraint inbox_day check (day = /*schema*/inbox_day(message_id)),
    constraint inbox_payload_hash check (octet_length(payload_hash) between 16 and 64)
) partition by range (day);

insert into /*schema*/daily_table (name, has_default, unique_column) values ('inbox', true, null);
select count(*) from /*schema*/keep_partitions();
-- Ids that carry no day. Not in the default partition: whoever adds a day has to look through all of that one.
create table /*schema*/inbox_undated partition of /*schema*/inbox for values from (minvalue) to ('1970-01-01');
-- These two are purged row by row.
create index on /*schema*/inbox_undated (accepted_at);
create index on /*schema*/inbox_default (accepted_at);

-- How long consumers must remember. Who has not said so is remembered for eight days.
create table /*schema*/inbox_consumer (
    consumer    text        not null primary key,
    retention   interval    not null,
    -- How long after it was accepted a message may come again.
    redelivery  interval    not null,
    declared_at timestamptz not null default clock_timestamp(),
    constraint inbox_consumer_name check (consumer ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint inbox_consumer_redelivery check (redelivery >= interval '0'),
    constraint inbox_consumer_retention check (retention >= redelivery and retention between interval '1 hour' and interval '366 days')
);

-- Says how long a consumer's messages must be remembered, and for how long its source may bring them again; the last word counts. The
-- rules are those of Retention in Java; a broken one is an error with SQLSTATE 22023 whose detail is the rule's code.
create function /*schema*/declare_inbox(consumer text, retention interval, redelivery interval)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as
$$
#variable_conflict use_column
declare
    code    text;
    problem text;
begin
    if declare_inbox.consumer is null or declare_inbox.consumer !~ '^[a-z][a-z0-9_.-]{0,99}$' then
        code := 'inbox.consumer-invalid';
        problem := format('consumer is %s, it must be a lower-case letter and up to 99 letters, digits or _ . -',
                          coalesce(quote_literal(left(declare_inbox.consumer, 60)), 'null'));
    elsif declare_inbox.retention is null or declare_inbox.retention not between interval '1 hour' and interval '366 days' then
        code := 'inbox.retention-invalid';
        problem := format('retention is %s, the range is 1 hour to 366 days; choose how long messages are remembered',
                          coalesce(declare_inbox.retention::text, 'null'));
    elsif declare_inbox.redelivery is null or declare_inbox.redelivery < interval '0' then
        code := 'inbox.redelivery-invalid';
        problem := format('redelivery is %s, the least is zero; say how long the source may bring a message again',
                          coalesce(declare_inbox.redelivery::text, 'null'));
    elsif declare_inbox.retention < declare_inbox.redelivery then
        code := 'inbox.retention-too-short';
        problem := format('retention is %s and the source may bring messages again for %s: one that comes after it was forgotten takes'
                          ' effect twice; keep them for at least that long', declare_inbox.retention, declare_inbox.redelivery);
    end if;
    if code is not null then
        raise exception 'could not declare the inbox: %', problem using errcode = '22023', detail = code;
    end if;
    insert into /*schema*/inbox_consumer as existing (consumer, retention, redelivery)
    values (declare_inbox.consumer, declare_inbox.retention, declare_inbox.redelivery)
    on conflict (consumer) do update
        set retention = excluded.retention, redelivery = excluded.redelivery, declared_at = clock_timestamp();
end
$$;
revoke all on function /*schema*/declare_inbox(text, interval, interval) from public;

-- Accepts messages for a consumer, in the caller's transaction, and answers for each, in the order given:
--   first      nobody has accepted it: apply it in this transaction
--   duplicate  it was accepted before, or stands earlier in this call
--   conflict   the same id was accepted with other content
-- A copy that another transaction has accepted and not committed is waited for. Ids are taken in their order, so that calls which
-- have several in common never wait for each other in a circle. Needs the rights of its owner, so that nobody else can write or
-- change a row.
create function /*schema*/accept(consumer text, message_ids uuid[], payload_hashes bytea[])
    returns text[]
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    -- A new day has no statistics, and where it has some, a thousand look-ups seem dear: the planner would rather read all of it, or
    -- compare everything with everything.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
as
$$
#variable_conflict use_column
declare
    batch_max constant integer := 10000;
    code      text;
    problem   text;
    fresh     uuid[];
    first_day date;
    last_day  date;
    dated     uuid[];
    undated   uuid[];
    answers   text[];
begin
    if accept.consumer is null or accept.consumer !~ '^[a-z][a-z0-9_.-]{0,99}$' then
        code := 'inbox.consumer-invalid';
        problem := format('consumer is %s, it must be a lower-case letter and up to 99 letters, digits or _ . -',
                          coalesce(quote_literal(left(accept.consumer, 60)), 'null'));
    elsif message_ids is null or payload_hashes is null or cardinality(message_ids) <> cardinality(payload_hashes)
          or coalesce(array_ndims(message_ids), 1) <> 1 or coalesce(array_ndims(payload_hashes), 1) <> 1 then
        code := 'inbox.batch-invalid';
        problem := format('there are %s ids and %s hashes; give one hash for each id',
                          coalesce(cardinality(message_ids)::text, 'no'), coalesce(cardinality(payload_hashes)::text, 'no'));
    elsif cardinality(message_ids) > batch_max then
        code := 'inbox.batch-too-large';
        problem := format('there are %s, the limit is %s for one call; accept the rest with another', cardinality(message_ids),
                          batch_max);
    elsif array_position(message_ids, null) is not null
          or array_position(message_ids, '00000000-0000-0000-0000-000000000000') is not null then
        code := 'inbox.id-invalid';
        problem := 'an id is null or the nil UUID; give a real one';
    elsif exists (select 1 from unnest(payload_hashes) as given (hash)
                  where given.hash is null or octet_length(given.hash) not between 16 and 64) then
        code := 'inbox.hash-invalid';
        problem := 'a hash is null or not 16 to 64 bytes long; use SHA-256 of the payload';
    end if;
    if code is not null then
        raise exception 'could not accept messages: %', problem using errcode = '22023', detail = code;
    end if;

    with given as (
        select distinct on (g.id) g.id, g.hash
        from unnest(message_ids, payload_hashes) with ordinality as g (id, hash, n)
        order by g.id, g.n
    ), written as (
        insert into /*schema*/inbox as i (consumer, message_id, day, payload_hash)
        select accept.consumer, given.id, /*schema*/inbox_day(given.id), given.hash
        from given
        order by given.id
        on conflict (consumer, message_id, day) do nothing
        returning i.message_id
    )
    select array_agg(written.message_id) into fresh from written;
    if cardinality(fresh) = cardinality(message_ids) then
        return array_fill('first'::text, array[cardinality(fresh)]);
    end if;

    -- Statements of their own, whose snapshots have what was committed while the insert waited for it.
    select min(given.day) filter (where given.day > '-infinity'), max(given.day),
           array_agg(given.id) filter (where given.day > '-infinity'), array_agg(given.id) filter (where given.day = '-infinity')
    into first_day, last_day, dated, undated
    from (select g.id, /*schema*/inbox_day(g.id) as day from unnest(message_ids) as g (id)) as given;
    -- Planned for these very days: a plan for any days would lock all partitions, and wait for whoever looks through the default one, which
    -- PostgreSQL does when a day is added, or empties another day. Days between two can be pruned, days in an array cannot.
    execute $query$
        with stored as materialized (
            select i.message_id, i.payload_hash
            from /*schema*/inbox as i
            where i.consumer = $1 and i.message_id = any ($2) and i.day between $3 and $4
            union all
            select i.message_id, i.payload_hash
            from /*schema*/inbox as i
            where i.consumer = $1 and i.message_id = any ($5) and i.day = '-infinity'
        ), given as (
            select g.id, g.hash, g.n, row_number() over (partition by g.id order by g.n) as nth
            from unnest($6, $7) with ordinality as g (id, hash, n)
        )
        select array_agg(
                   case
                       when given.hash <> stored.payload_hash then 'conflict'
                       when given.nth = 1 and first.id is not null then 'first'
                       else 'duplicate'
                   end
                   order by given.n)
        from given
        join stored on stored.message_id = given.id
        left join unnest($8) as first (id) on first.id = given.id
        $query$
    into answers
    using accept.consumer, dated, first_day, last_day, undated, message_ids, payload_hashes, fresh;
    if cardinality(answers) is distinct from cardinality(message_ids) then
        raise exception 'could not accept messages: one of them was purged at this moment; try again' using errcode = '40001';
    end if;
    return answers;
end
$$;
revoke all on function /*schema*/accept(text, uuid[], bytea[]) from public;
revoke all on function /*schema*/inbox_day(uuid) from public;

-- Takes one step in forgetting the days of the inbox that are older than what is kept, and says what it did; null: nothing is left.
--   kept   how long messages are remembered after they were accepted; longer if a consumer has said so
--   after  days up to this one are left alone
-- Answers with outcome:
--   emptied  nothing of that day was accepted lately: it is empty now, and its space is free
--   dropped  the empty day is gone
--   late     messages of that day were accepted lately, long after they were made: they are still remembered
--   locked   somebody holds a lock on it for longer than we wait
-- Looking through a day holds up nobody, or while nothing may be added to it those who accept messages of that very day. Emptying it
-- needs a lock that all who accept wait for, and dropping one on the whole inbox, both for a moment; they are left for another time if it
-- is not there at once. A message of a day that is gone belongs to the default partition.
create function /*schema*/forget_inbox_day(kept interval, after date default '-infinity', out day date, out outcome text)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '200ms'
as
$$
declare
    kept_from timestamptz;
    partition regclass;
    filled    boolean;
    recent    boolean;
begin
    if kept is null or kept < interval '1 hour' then
        raise exception 'could not forget days of the inbox: kept is %, the least is one hour', coalesce(kept::text, 'null')
            using errcode = '22023';
    end if;
    kept_from := clock_timestamp() - greatest(kept, (select max(c.retention) from /*schema*/inbox_consumer as c));
    select to_date(right(class.relname, 8), 'YYYYMMDD'), class.oid::regclass into day, partition
    from pg_inherits as child
    join pg_class as class on class.oid = child.inhrelid
    where child.inhparent = '/*schema*/inbox'::regclass
      and class.relname ~ '^inbox_[0-9]{8}$'
      and to_date(right(class.relname, 8), 'YYYYMMDD') > after
      and to_date(right(class.relname, 8), 'YYYYMMDD') < (kept_from at time zone 'utc')::date
    order by 1
    limit 1;
    if day is null then
        return;
    end if;
    begin
        execute format('select exists (select 1 from %s)', partition) into filled;
        if filled then
            execute format('select exists (select 1 from %s where accepted_at >= $1)', partition) into recent using kept_from;
            if not recent then
                -- Once more while nobody can add to it: who has accepted a message of that day has not committed yet, or waits for us.
                execute format('lock table only %s in share mode', partition);
                execute format('select exists (select 1 from %s where accepted_at >= $1)', partition) into recent using kept_from;
            end if;
            if recent then
                outcome := 'late';
            else
                execute format('truncate table only %s', partition);
                outcome := 'emptied';
            end if;
        else
            lock table only /*schema*/inbox in access exclusive mode;
            execute format('lock table only %s in access exclusive mode', partition);
            execute format('select exists (select 1 from %s)', partition) into filled;
            if filled then
                outcome := 'late';
            else
                execute format('drop table %s', partition);
                outcome := 'dropped';
            end if;
        end if;
    exception
        when lock_not_available then
            outcome := 'locked';
    end;
end
$$;
revoke all on function /*schema*/forget_inbox_day(interval, date) from public;

-- Forgets what was accepted too long ago of the ids without a day or with a day that has no partition. Says how many went.
create function /*schema*/purge_inbox(kept interval, at_most integer, out purged bigint)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as
$$
declare
    kept_from timestamptz;
    more      bigint;
begin
    if kept is null or kept < interval '1 hour' or at_most is null or at_most not between 1 and 100000 then
        raise exception 'could not purge the inbox: kept is % and at_most is %, the least is one hour and the range 1 to 100000',
            coalesce(kept::text, 'null'), coalesce(at_most::text, 'null') using errcode = '22023';
    end if;
    kept_from := clock_timestamp() - greatest(kept, (select max(c.retention) from /*schema*/inbox_consumer as c));
    with old as materialized (
        select i.consumer, i.message_id, i.day
        from /*schema*/inbox_undated as i
        where i.accepted_at < kept_from
        order by i.accepted_at
        limit at_most
        for update skip locked
    )
    delete from /*schema*/inbox_undated as i
    using old
    where i.consumer = old.consumer and i.message_id = old.message_id and i.day = old.day;
    get diagnostics purged = row_count;
    with old as materialized (
        select i.consumer, i.message_id, i.day
        from /*schema*/inbox_default as i
        where i.accepted_at < kept_from
        order by i.accepted_at
        limit at_most - purged
        for update skip locked
    )
    delete from /*schema*/inbox_default as i
    using old
    where i.consumer = old.consumer and i.message_id = old.message_id and i.day = old.day;
    get diagnostics more = row_count;
    purged := purged + more;
end
$$;
revoke all on function /*schema*/purge_inbox(interval, integer) from public;

-- Messages by position, for looking: those that have one, so nothing that is not committed, and nothing later comes before what is
-- there. A scheduled message has its position at once; available_at says when it is due. For reading on and on, see read.
create view /*schema*/message as
select j.position, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.event_type, o.event_version,
       o.payload, o.headers, o.occurred_at, o.available_at, j.key_hash
from /*schema*/journal as j
join /*schema*/outbox as o on o.seq = j.seq and o.day = j.outbox_day;

-- The days of the outbox that have a partition of their own. The messages of other days lie in the default partition, or are gone.
create function /*schema*/outbox_days()
    returns date[]
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as
$$
begin
    return (
        select coalesce(array_agg(to_date(right(class.relname, 8), 'YYYYMMDD')), '{}')
        from pg_inherits as child
        join pg_class as class on class.oid = child.inhrelid
        where child.inhparent = '/*schema*/outbox'::regclass and class.relname ~ '^outbox_[0-9]{8}$'
    );
end
$$;
revoke all on function /*schema*/outbox_days() from public;

-- The last position there is now: where a reader begins that wants nothing of what was before.
create function /*schema*/last_position()
    returns bigint
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
begin
    return (select tick.position from /*schema*/tick order by tick.position desc limit 1);
end
$$;
revoke all on function /*schema*/last_position() from public;

-- How far a reader has come, stored in the transaction of what it did. A reader that splits its work has a row for each part.
create table /*schema*/consumer_offset (
    consumer      text        not null,
    partition_key text        not null default '',
    -- Everything up to here has taken effect.
    position      bigint      not null,
    updated_at    timestamptz not null default clock_timestamp(),
    primary key (consumer, partition_key),
    constraint consumer_offset_consumer check (consumer ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint consumer_offset_partition_key check (length(partition_key) <= 200),
    constraint consumer_offset_position check (position >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

insert into /*schema*/migration (version, name) values (8, 'inbox');
