-- The journal: the outbox in delivery order, one dense position per committed message. Written by stamp alone.

create table /*schema*/journal (
    position   bigint  not null,
    seq        bigint  not null,
    -- The day on which the message was stamped, and that of its outbox row.
    day        date    not null,
    outbox_day date    not null,
    -- A hash of the message's key, from which each subscription makes its lane.
    key_hash   integer not null check (key_hash >= 0),
    -- The size of payload and headers, so that a reader can bound a batch before it reads the wide rows.
    bytes      integer not null
) partition by range (day);

insert into /*schema*/daily_table (name, has_default, unique_column) values ('journal', false, 'position');
select count(*) from /*schema*/keep_partitions();

-- One row per stamp that found something: how far the positions went, and what the stamp could see.
create table /*schema*/tick (
    position bigint      not null primary key,
    snapshot pg_snapshot not null,
    -- A stamp too large for one transaction goes on: rows that target sees and snapshot does not, beyond cut, are still due.
    target   pg_snapshot,
    cut      bigint,
    -- A transaction whose xid is greater began to write after this tick: its rows have a greater seq and no earlier day. Nothing of
    -- that holds for 3, the xid of ticks that were made in another cluster or by restamp.
    xid      xid8        not null default pg_current_xact_id(),
    seq      bigint      not null,
    day      date        not null,
    at       timestamptz not null default now(),
    constraint tick_unfinished check ((target is null) = (cut is null))
);
create index tick_xid on /*schema*/tick (xid);

insert into /*schema*/tick (position, snapshot, seq, day)
values (0, pg_current_snapshot(), 0, (now() at time zone 'utc')::date);

-- Spreads keys over lanes. Chained seeds keep ('a', 'bc') and ('ab', 'c') apart.
create function /*schema*/key_hash(tenant_id text, aggregate_type text, aggregate_id text)
    returns integer
    language sql
    immutable
    parallel safe
return (hashtextextended(aggregate_id, hashtextextended(aggregate_type, hashtextextended(coalesce(tenant_id, ''), 0)))
        & 2147483647)::integer;

-- How much a reader must take into memory. Only a compressed payload has to be unpacked to know.
create function /*schema*/stored_bytes(payload json, headers json)
    returns integer
    language sql
    stable
    parallel safe
return case when pg_column_compression(payload) is null then pg_column_size(payload) else octet_length(payload::text) end
       + coalesce(pg_column_size(headers), 0);

-- Gives every newly visible message the next position. One call is one short transaction.
--   batch_max  how many messages one call may stamp; a greater backlog takes several calls
--   seen       a snapshot that an earlier call found nothing new in; if it has not moved, nothing is looked up
-- Answers with state:
--   idle       nothing new
--   stamped    stamped messages have positions up to last_position
--   more       the same, and more are due at once
--   busy       another node is stamping; nobody waits
--   foreign    this is not the cluster that stamped the journal, or the outbox has rows of another one: call restamp
create function /*schema*/stamp(
    batch_max integer,
    seen text,
    out state text,
    out stamped bigint,
    out last_position bigint,
    out last_day date,
    out looked_at text
)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    -- New partitions have no statistics, and the planner then guesses at scans that read all that is due to take a little.
    set enable_seqscan = off
    set enable_bitmapscan = off
as
$$
declare
    last        record;
    lower_bound record;
    today       date := (now() at time zone 'utc')::date;
    first_day   date;
    last_seq    bigint;
    base        pg_snapshot;
    goal        pg_snapshot;
    found_rows  bigint;
    foreigners  boolean;
    cut_seq     bigint;
begin
    if batch_max is null or batch_max not between 1 and 1000000 then
        raise exception 'could not stamp: batch_max is %, the range is 1 to 1000000', coalesce(batch_max::text, 'null')
            using errcode = '22023';
    end if;
    if pg_current_xact_id_if_assigned() is not null then
        raise exception 'could not stamp: this transaction has written already; stamp in one of its own' using errcode = '25001';
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'could not stamp: the isolation level is %, it must be read committed', current_setting('transaction_isolation')
            using errcode = '25001';
    end if;
    stamped := 0;
    looked_at := pg_current_snapshot()::text;
    if looked_at = seen then
        state := 'idle';
        return;
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('/*schema*/stamp', 0)) then
        select tick.position, tick.day into last_position, last_day
        from /*schema*/tick order by tick.position desc limit 1;
        state := 'busy';
        return;
    end if;

    -- A position that a relay has read must not be given to another message after a crash: it is on disk before it is seen,
    -- and with it all that was committed before, even where the session does not wait for its commits.
    if current_setting('synchronous_commit') = 'off' then
        perform set_config('synchronous_commit', 'local', true);
    end if;

    -- Statements below see what was committed before the lock was ours: each has a snapshot of its own.
    select tick.position, tick.snapshot, tick.target, tick.cut, tick.day into strict last
    from /*schema*/tick order by tick.position desc limit 1;
    last_position := last.position;
    last_day := last.day;

    if current_setting('postroom.cluster_checked', true) is distinct from '/*schema*/' then
        if (select control.system_identifier from pg_control_system() as control)
           is distinct from (select cluster.system_identifier from /*schema*/cluster order by cluster.since desc limit 1) then
            state := 'foreign';
            return;
        end if;
        perform set_config('postroom.cluster_checked', '/*schema*/', false);
    end if;
    if pg_snapshot_xmax(coalesce(last.target, last.snapshot)) > pg_snapshot_xmax(pg_current_snapshot()) then
        state := 'foreign';
        return;
    end if;

    -- The floor: rows that the last snapshot could not see were written after the newest tick whose xid is below its xmin.
    -- One day of margin, in case the clock was set back over midnight; if that tick is in the future, the clock was set back
    -- further, and no day is left out. There is no upper bound: rows may have been written by a clock that ran ahead.
    -- After a restamp there is no such tick at first: then neither a seq nor a day is left out.
    select tick.seq, tick.at into lower_bound
    from /*schema*/tick where tick.xid > '3' and tick.xid < pg_snapshot_xmin(last.snapshot) order by tick.xid desc limit 1;
    first_day := case when lower_bound.at <= now() then (lower_bound.at at time zone 'utc')::date - 1 else '-infinity' end;
    -- Read before this transaction has an xid of its own; see tick.seq.
    select sequence.last_value - case when sequence.is_called then 0 else 1 end into last_seq
    from /*schema*/outbox_seq_seq as sequence;
    today := greatest(today, last.day);
    if today > last.day and to_regclass('/*schema*/journal_' || to_char(today + 3, 'YYYYMMDD')) is null then
        -- Maintenance has not been here for long: make the days ahead ourselves, rather than have nowhere to write.
        perform /*schema*/keep_partitions();
    end if;

    if last.target is null then
        -- The same statement twice: without the second half where the last snapshot saw no open transaction, as it mostly does.
        -- Setting up a scan of every partition ahead, only to find nothing, is most of what a stamp costs.
        if pg_snapshot_xmin(last.snapshot) = pg_snapshot_xmax(last.snapshot) then
            with fresh as materialized (
                select o.xid, o.seq, o.day, /*schema*/key_hash(o.tenant_id, o.aggregate_type, o.aggregate_id) as key_hash,
                       /*schema*/stored_bytes(o.payload, o.headers) as bytes
                from /*schema*/outbox as o
                where o.xid >= pg_snapshot_xmax(last.snapshot)
                  and o.day >= first_day
                limit batch_max + 1
            ), counted as (
                select count(*) as rows, coalesce(bool_or(fresh.xid >= pg_snapshot_xmax(pg_current_snapshot())), false) as foreigners
                from fresh
            ), written as (
                insert into /*schema*/journal (position, seq, day, outbox_day, key_hash, bytes)
                select last.position + row_number() over (order by fresh.seq), fresh.seq, today, fresh.day, fresh.key_hash, fresh.bytes
                from fresh cross join counted
                where counted.rows <= batch_max and not counted.foreigners
            ), ticked as (
                insert into /*schema*/tick (position, snapshot, seq, day)
                select last.position + counted.rows, pg_current_snapshot(), last_seq, today
                from counted
                where counted.rows between 1 and batch_max and not counted.foreigners
            )
            select counted.rows, counted.foreigners into found_rows, foreigners from counted;
        else
            with fresh as materialized (
                select late.xid, late.seq, late.day, late.key_hash, late.bytes
                from (
                    select o.xid, o.seq, o.day, /*schema*/key_hash(o.tenant_id, o.aggregate_type, o.aggregate_id) as key_hash,
                           /*schema*/stored_bytes(o.payload, o.headers) as bytes
                    from /*schema*/outbox as o
                    where o.xid >= pg_snapshot_xmax(last.snapshot)
                      and o.day >= first_day
                    union all
                    select o.xid, o.seq, o.day, /*schema*/key_hash(o.tenant_id, o.aggregate_type, o.aggregate_id),
                           /*schema*/stored_bytes(o.payload, o.headers)
                    from /*schema*/outbox as o
                    where o.xid = any (array(select pg_snapshot_xip(last.snapshot)))
                      and o.day >= first_day
                ) as late
                limit batch_max + 1
            ), counted as (
                select count(*) as rows, coalesce(bool_or(fresh.xid >= pg_snapshot_xmax(pg_current_snapshot())), false) as foreigners
                from fresh
            ), written as (
                insert into /*schema*/journal (position, seq, day, outbox_day, key_hash, bytes)
                select last.position + row_number() over (order by fresh.seq), fresh.seq, today, fresh.day, fresh.key_hash, fresh.bytes
                from fresh cross join counted
                where counted.rows <= batch_max and not counted.foreigners
            ), ticked as (
                insert into /*schema*/tick (position, snapshot, seq, day)
                select last.position + counted.rows, pg_current_snapshot(), last_seq, today
                from counted
                where counted.rows between 1 and batch_max and not counted.foreigners
            )
            select counted.rows, counted.foreigners into found_rows, foreigners from counted;
        end if;
        if foreigners then
            state := 'foreign';
            return;
        end if;
        if found_rows <= batch_max then
            state := case when found_rows = 0 then 'idle' else 'stamped' end;
            stamped := found_rows;
            last_position := last.position + found_rows;
            last_day := case when found_rows = 0 then last.day else today end;
            return;
        end if;
        -- Too much for one transaction: fix what is due by a snapshot, and work it off in the order of seq.
        base := last.snapshot;
        goal := pg_current_snapshot();
        cut_seq := coalesce(lower_bound.seq, 0);
    else
        base := last.snapshot;
        goal := last.target;
        cut_seq := last.cut;
    end if;

    insert into /*schema*/journal (position, seq, day, outbox_day, key_hash, bytes)
    select last.position + row_number() over (order by slice.seq), slice.seq, today, slice.day, slice.key_hash, slice.bytes
    from (
        select o.seq, o.day, /*schema*/key_hash(o.tenant_id, o.aggregate_type, o.aggregate_id) as key_hash,
               /*schema*/stored_bytes(o.payload, o.headers) as bytes
        from /*schema*/outbox as o
        -- By seq alone: a condition that the index on xid could serve would make the planner read and sort all that is due.
        where o.seq > cut_seq
          and o.day >= first_day
          and not pg_visible_in_snapshot(o.xid, base)
          and pg_visible_in_snapshot(o.xid, goal)
        order by o.seq
        limit batch_max
    ) as slice;
    get diagnostics found_rows = row_count;
    select j.seq into cut_seq from /*schema*/journal as j where j.day = today and j.position = last.position + found_rows;

    -- Even a slice without rows ends the bulk: the tick then only moves the snapshot on, at the same position.
    if found_rows = 0 then
        update /*schema*/tick as unfinished set snapshot = goal, target = null, cut = null
        where unfinished.position = last.position;
    elsif found_rows < batch_max then
        insert into /*schema*/tick (position, snapshot, seq, day)
        values (last.position + found_rows, goal, last_seq, today);
    else
        insert into /*schema*/tick (position, snapshot, target, cut, seq, day)
        values (last.position + found_rows, base, goal, cut_seq, last_seq, today);
    end if;
    state := 'more';
    stamped := found_rows;
    last_position := last.position + found_rows;
    last_day := case when found_rows = 0 then last.day else today end;
    looked_at := '';
end
$$;
revoke all on function /*schema*/stamp(integer, text) from public;

revoke all on function /*schema*/key_hash(text, text, text) from public;
revoke all on function /*schema*/stored_bytes(json, json) from public;

-- How many messages wait for a position, counted no further than count_max, and since when the oldest does: since the last stamp, or since
-- it got its id, whichever is later. Without it a journal that nobody stamps looks as if there was nothing to do. Index: outbox_xid.
create function /*schema*/unstamped(count_max integer, out messages bigint, out since timestamptz)
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
    with last as materialized (
        select t.snapshot, t.cut, t.day, t.at from /*schema*/tick as t order by t.position desc limit 1
    ), waiting as materialized (
        select o.xid, greatest(last.at, case when substr(o.id::text, 15, 1) = '7'
                   then to_timestamp((('x' || encode(substring(uuid_send(o.id) from 1 for 6), 'hex'))::bit(48)::bigint) / 1000.0)
                   else o.occurred_at
               end) as at
        from last
        cross join lateral (
            select o.xid, o.id, o.occurred_at
            from /*schema*/outbox as o
            where o.xid >= pg_snapshot_xmax(last.snapshot) and o.day >= last.day - 1 and (last.cut is null or o.seq > last.cut)
            order by o.xid
            limit count_max
        ) as o
    )
    select count(*), (select w.at from waiting as w order by w.xid limit 1) from waiting
$$;
revoke all on function /*schema*/unstamped(integer) from public;

-- Leaves one tick per second of those made between two times: enough to find a position by time. The last tick always stays.
create function /*schema*/thin_ticks(since timestamptz, until timestamptz, out thinned bigint)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
begin
    with ranked as materialized (
        select t.position, row_number() over (partition by date_trunc('second', t.at) order by t.position desc) as nth
        from /*schema*/tick as t
        where t.at >= since and t.at < least(until, now() - interval '10 minutes')
          and t.position < (select max(newest.position) from /*schema*/tick as newest)
    ), gone as (
        delete from /*schema*/tick as t using ranked where t.position = ranked.position and ranked.nth > 1 returning 1
    )
    select count(*) into thinned from gone;
end
$$;
revoke all on function /*schema*/thin_ticks(timestamptz, timestamptz) from public;

insert into /*schema*/migration (version, name) values (3, 'journal');
