-- The archive: old days of outbox and journal, taken out of the way of those who publish and deliver. Nothing is copied: a day's partitions
-- change their parents, in one transaction. Whoever reads by position goes on reading there.

-- No indexes of their own and no default partition: partitions bring their indexes along, and nothing is ever inserted.
create table /*schema*/outbox_archive (like /*schema*/outbox) partition by range (day);
create table /*schema*/journal_archive (like /*schema*/journal) partition by range (day);

-- Which days were archived, oldest first, without a gap in positions; also those that were dropped since.
create table /*schema*/archive_day (
    day            date        not null primary key,
    -- The positions that the journal's day has; null if it has none.
    first_position bigint,
    last_position  bigint,
    -- Whoever has passed this position needs nothing of this day: also messages of this day that were stamped later lie up to it.
    passed_at      bigint      not null,
    -- Whether the outbox had this day: not if somebody dropped it by hand before.
    has_messages   boolean     not null,
    archived_at    timestamptz not null default clock_timestamp(),
    dropped_at     timestamptz,
    constraint archive_day_positions check ((first_position is null) = (last_position is null) and first_position <= last_position),
    constraint archive_day_passed check (passed_at >= coalesce(last_position, 0))
);
-- The day of a position is found by it.
create index archive_day_position on /*schema*/archive_day (last_position);

-- Archived messages by position, for looking, as the view message shows the others. For reading on and on, see read.
create view /*schema*/archived_message as
select j.position, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.event_type, o.event_version,
       o.payload, o.headers, o.occurred_at, o.available_at, j.key_hash
from /*schema*/journal_archive as j
join /*schema*/outbox_archive as o on o.seq = j.seq and o.day = j.outbox_day;

-- The message at a place, wherever it lies: in the outbox, or in the archive. The archive is looked into after the outbox and only if need
-- be: a day that is archived in between is found, and who needs no archive takes no locks there. Plans are made for the day: one for
-- whichever day comes would lock all there are.
create function /*schema*/message_at(seq bigint, day date)
    returns table (id uuid, tenant_id text, aggregate_type text, aggregate_id text, aggregate_version bigint, event_type text,
                   event_version integer, payload json, headers json, occurred_at timestamptz, available_at timestamptz)
    language plpgsql
    stable
    rows 1
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as
$$
#variable_conflict use_column
begin
    return query
    select o.id, o.tenant_id::text, o.aggregate_type::text, o.aggregate_id::text, o.aggregate_version, o.event_type::text,
           o.event_version::integer, o.payload, o.headers::json, o.occurred_at::timestamptz, o.available_at::timestamptz
    from /*schema*/outbox as o
    where o.seq = message_at.seq and o.day = message_at.day
    limit 1;
    if not found then
        return query
        select o.id, o.tenant_id::text, o.aggregate_type::text, o.aggregate_id::text, o.aggregate_version, o.event_type::text,
               o.event_version::integer, o.payload, o.headers::json, o.occurred_at::timestamptz, o.available_at::timestamptz
        from /*schema*/outbox_archive as o
        where o.seq = message_at.seq and o.day = message_at.day
        limit 1;
    end if;
end
$$;
revoke all on function /*schema*/message_at(bigint, date) from public;

-- The days that outbox or journal have a partition of their own for, beside the archive.
create function /*schema*/hot_days()
    returns setof date
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as
$$
    select distinct to_date(right(class.relname, 8), 'YYYYMMDD')
    from pg_inherits as child
    join pg_class as class on class.oid = child.inhrelid
    where child.inhparent in ('/*schema*/outbox'::regclass, '/*schema*/journal'::regclass)
      and class.relname ~ '^(outbox|journal)_[0-9]{8}$'
$$;
revoke all on function /*schema*/hot_days() from public;

-- The last position that refers to a day which is not archived: that of an entry of this day, or of a message of this day that was
-- stamped on a later one, when its transaction was committed. Zero if there is none.
-- The first tick whose snapshot was waiting for none of the day's transactions bounds what has to be looked through; in a restored copy, which
-- has a cluster of its own since that day or later, and whose transaction ids were lost, the journal is read from there to its end.
create function /*schema*/passed_at(day date)
    returns bigint
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as
$$
#variable_conflict use_column
declare
    last   bigint;
    newest xid8;
    bound  bigint;
begin
    select j.position into last from /*schema*/journal as j where j.day = passed_at.day order by j.position desc limit 1;
    select o.xid into newest from /*schema*/outbox as o where o.day = passed_at.day order by o.xid desc limit 1;
    if newest is null then
        return coalesce(last, 0);
    end if;
    if not exists (
        select
        from /*schema*/cluster as c
        where (c.since at time zone 'utc')::date >= passed_at.day
          and c.since > (select min(first.since) from /*schema*/cluster as first)
    ) then
        select t.position into bound
        from /*schema*/tick as t
        where t.position > coalesce(last, 0) and t.target is null and pg_snapshot_xmin(t.snapshot) > newest
        order by t.position
        limit 1;
    end if;
    return greatest(coalesce(last, 0), (
        select coalesce(max(j.position), 0)
        from /*schema*/journal as j
        where j.position > coalesce(last, 0) and (bound is null or j.position <= bound) and j.day >= passed_at.day
          and j.outbox_day = passed_at.day
    ));
end
$$;
revoke all on function /*schema*/passed_at(date) from public;

-- Who still needs a day, at most so many: whose position has not passed it, and deliveries of its messages.
--   subscription  its slowest lane; also one that is paused or replays. Not where a broker serves it: its lanes stand still
--   reader        a consumer by position that keeps its offset here
--   generation    of a read model that is live, asked for and not made yet. The first one holds nothing: what could not be made, and may never
--                 be, would hold every day; it is made of what is kept then
--   move          of a subscription that comes back from a broker
--   delivery      the first message of that day that waits in a subscription. One that is scheduled for later, even for months, holds a day
--                 in the archive only: it is read there when it is due. With a dropped day go all messages that have their position there,
--                 also those that were published on another day
create function /*schema*/day_needs(day date, passed_at bigint, to_drop boolean, at_most integer)
    returns table (kind text, name text, "position" bigint)
    language sql
    stable
    set search_path = pg_catalog, pg_temp
as
$$
    (select 'subscription', l.subscription, min(l.position)
     from /*schema*/lane as l
     join /*schema*/subscription as s on s.name = l.subscription and s.served_by = 'postgres'
     where l.position < day_needs.passed_at
     group by l.subscription
     order by 3, 2
     limit at_most)
    union all
    (select 'reader', c.consumer, min(c.position)
     from /*schema*/consumer_offset as c
     where c.position < day_needs.passed_at
     group by c.consumer
     order by 3, 2
     limit at_most)
    union all
    (select 'generation', g.read_model || ' ' || g.number, g.began_after
     from /*schema*/generation as g
     join /*schema*/generation as l on l.read_model = g.read_model and l.state = 'live'
     where g.state = 'asked' and g.began_after < day_needs.passed_at
     order by g.began_after
     limit at_most)
    union all
    (select 'move', m.subscription, m.position
     from /*schema*/subscription_move as m
     where m.ended_at is null and m.position < day_needs.passed_at
     order by m.position
     limit at_most)
    union all
    (select 'delivery', v.subscription, min(v.position)
     from /*schema*/delivery as v
     where v.dead_letter is null
       and (v.outbox_day = day_needs.day and v.state <> 'scheduled' or to_drop and v.position <= day_needs.passed_at)
     group by v.subscription
     order by 3, 2
     limit at_most)
    limit at_most
$$;
revoke all on function /*schema*/day_needs(date, bigint, boolean, integer) from public;

-- Whether a day has a message that a stamp's snapshot could not see: it was committed later, and may not have a position yet. Through the
-- index on xid; where a transaction has been open for so long that very many would have to be looked at, the answer is that it may.
create function /*schema*/may_be_unstamped(day date, stamped pg_snapshot)
    returns boolean
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
as
$$
#variable_conflict use_column
declare
    looked_at_max constant integer := 10000;
begin
    return (
        select count(*) > looked_at_max or coalesce(bool_or(not pg_visible_in_snapshot(late.xid, stamped)), false)
        from (
            select o.xid
            from /*schema*/outbox as o
            where o.day = may_be_unstamped.day and o.xid >= pg_snapshot_xmin(stamped)
            limit looked_at_max + 1
        ) as late
    );
end
$$;
revoke all on function /*schema*/may_be_unstamped(date, pg_snapshot) from public;

-- Takes one step in archiving the oldest day that is older than it is kept hot, and says what it did; null: there is none.
--   bounded    the day's partitions have a constraint that says which day they are, for the next step
--   checked    it holds: PostgreSQL need not look through the day while others wait
--   archived   the day's partitions belong to the archive
--   needed     somebody has not passed it yet: need says who. Days go in their order, so it holds up later ones
--   unstamped  a message of it may not have a position yet
--   recent     nobody has stamped anything on two later days: readers take it that yesterday is not archived
--   locked     somebody holds a lock for longer than we wait: a transaction that wrote to the outbox or reads a day, a dump
--   busy       another node archives, or stamps without an end
--   foreign    this is not the cluster that stamped the journal: it is restamped first
-- Each step is one transaction. All but the last lock no more than the day. The last locks journal and outbox for as long as it
-- takes to write some rows of the catalog; who publishes waits behind it for half a second at most if others do not let go: 200 ms for the
-- outbox, then 50 ms for each of the tables that change.
create function /*schema*/archive_step(older_than interval, out day date, out outcome text, out need text)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '200ms'
as
$$
#variable_conflict use_variable
declare
    parents constant text[] := array['journal', 'outbox'];
    bound   constant text   := 'archive_bound';
    parent  text;
    part    record;
    found_first bigint;
    found_last  bigint;
    passed  bigint;
    stamped pg_snapshot;
    stamped_on date;
    bounded boolean := false;
    checked boolean := false;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        -- What commits while a lock is waited for must be seen.
        raise exception 'could not archive: the isolation level is %, it must be read committed', current_setting('transaction_isolation')
            using errcode = '25001';
    end if;
    if older_than is null or older_than < interval '1 day' then
        raise exception 'could not archive: older_than is %, the least is one day', coalesce(older_than::text, 'null')
            using errcode = '22023';
    end if;
    select min(hot) into day
    from /*schema*/hot_days() as hot
    where hot < (clock_timestamp() at time zone 'utc' - older_than)::date;
    if day is null then
        return;
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('/*schema*/archive', 0)) then
        outcome := 'busy';
        return;
    end if;
    -- Asked again: whoever had the lock a moment ago may have archived that day.
    select min(hot) into day
    from /*schema*/hot_days() as hot
    where hot < (clock_timestamp() at time zone 'utc' - older_than)::date;
    if day is null then
        return;
    end if;
    if (select control.system_identifier from pg_control_system() as control)
       is distinct from (select cluster.system_identifier from /*schema*/cluster order by cluster.since desc limit 1) then
        outcome := 'foreign';
        return;
    end if;
    select tick.snapshot, tick.day into strict stamped, stamped_on from /*schema*/tick order by tick.position desc limit 1;
    if day > stamped_on - 2 then
        outcome := 'recent';
        return;
    end if;
    if /*schema*/may_be_unstamped(day, stamped) then
        outcome := 'unstamped';
        return;
    end if;
    passed := /*schema*/passed_at(day);
    select string_agg(format('%s %s at %s', n.kind, n.name, n.position), ', ') into need
    from /*schema*/day_needs(day, passed, false, 5) as n;
    if need is not null then
        need := need || '; the day ends at ' || passed;
        outcome := 'needed';
        return;
    end if;

    begin
        for part in
            select p.parent, p.oid, c.convalidated as validated
            from (select name as parent, to_regclass('/*schema*/' || name || '_' || to_char(day, 'YYYYMMDD')) as oid
                  from unnest(parents) as name) as p
            left join pg_constraint as c on c.conrelid = p.oid and c.conname = bound
            where p.oid is not null
              and exists (select from pg_inherits as i
                          where i.inhrelid = p.oid and i.inhparent = ('/*schema*/' || p.parent)::regclass)
            order by p.parent
        loop
            if part.validated is null then
                execute format('alter table only %s add constraint %I check (day >= %L and day < %L) not valid', part.oid::regclass, bound,
                               day, day + 1);
                bounded := true;
            elsif not part.validated then
                execute format('alter table only %s validate constraint %I', part.oid::regclass, bound);
                checked := true;
            end if;
        end loop;
        if bounded or checked then
            outcome := case when bounded then 'bounded' else 'checked' end;
            return;
        end if;

        -- Nobody stamps meanwhile: who stamps locks both tables, and we would wait for each other.
        begin
            perform pg_advisory_xact_lock(hashtextextended('/*schema*/stamp', 0));
        exception
            when lock_not_available then
                outcome := 'busy';
                return;
        end;
        -- The parents first: nobody who reached a partition through them is left then. The outbox last, for others wait behind us.
        lock table only /*schema*/journal in access exclusive mode;
        lock table only /*schema*/outbox in access exclusive mode;
        perform set_config('lock_timeout', '50ms', true);
        -- Once more, now that nobody can add to it: who has written into that day has ended. By the same snapshot as before, so that
        -- nothing came that those who need the day were not asked about.
        if /*schema*/may_be_unstamped(day, stamped) then
            outcome := 'unstamped';
            raise exception using errcode = 'PR001';
        end if;
        select (select j.position from /*schema*/journal as j where j.day = archive_step.day order by j.position limit 1),
               (select j.position from /*schema*/journal as j where j.day = archive_step.day order by j.position desc limit 1)
        into found_first, found_last;
        foreach parent in array parents loop
            continue when not exists (
                select from pg_inherits as i
                where i.inhrelid = to_regclass('/*schema*/' || parent || '_' || to_char(day, 'YYYYMMDD'))
                  and i.inhparent = ('/*schema*/' || parent)::regclass);
            execute format('alter table /*schema*/%1$I detach partition /*schema*/%2$I', parent,
                           parent || '_' || to_char(day, 'YYYYMMDD'));
            execute format('alter table /*schema*/%1$I attach partition /*schema*/%2$I for values from (%3$L) to (%4$L)',
                           parent || '_archive', parent || '_' || to_char(day, 'YYYYMMDD'), day, day + 1);
            execute format('alter table only /*schema*/%1$I drop constraint %2$I', parent || '_' || to_char(day, 'YYYYMMDD'), bound);
        end loop;
        insert into /*schema*/archive_day (day, first_position, last_position, passed_at, has_messages)
        values (day, found_first, found_last, passed,
                exists (select from pg_inherits as i
                        where i.inhparent = '/*schema*/outbox_archive'::regclass
                          and i.inhrelid = to_regclass('/*schema*/outbox_' || to_char(day, 'YYYYMMDD'))));
        outcome := 'archived';
    exception
        when lock_not_available or deadlock_detected then
            outcome := 'locked';
        when sqlstate 'PR001' then
            -- All locks of this step are given back with it.
            null;
    end;
end
$$;
revoke all on function /*schema*/archive_step(interval) from public;

-- Drops the oldest archived day, if it is the given one and nobody needs it. Its row stays and says so. Its messages go wherever they lie, row
-- by row where that is not a partition of this day: what stayed without an entry would get another position in a restored copy.
--   dropped    it is gone, in the archive of the outbox and of the journal
--   none       it is not archived, or was dropped already
--   earlier    an earlier day is still archived: need names it. Days go in their order
--   needed     somebody has not passed it: need says who
--   locked     somebody reads the archive for longer than we wait
create function /*schema*/drop_archived_day(day date, out outcome text, out need text)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '200ms'
as
$$
#variable_conflict use_variable
declare
    parent text;
    oldest date;
    passed bigint;
    entries regclass := to_regclass('/*schema*/journal_' || to_char(day, 'YYYYMMDD'));
    early  record;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        -- What commits while a lock is waited for must be seen.
        raise exception 'could not drop a day of the archive: the isolation level is %, it must be read committed', current_setting('transaction_isolation')
            using errcode = '25001';
    end if;
    begin
        -- Another process that drops it just now is waited for no longer than others are.
        select d.passed_at into passed from /*schema*/archive_day as d where d.day = drop_archived_day.day and d.dropped_at is null for update;
        if not found then
            outcome := 'none';
            return;
        end if;
        select min(d.day) into oldest from /*schema*/archive_day as d where d.dropped_at is null;
        if oldest < day then
            outcome := 'earlier';
            need := oldest;
            return;
        end if;
        -- Nobody asks for a generation between the question and the end of the day.
        perform pg_advisory_xact_lock(hashtextextended('/*schema*/archive drop', 0));
        select string_agg(format('%s %s at %s', n.kind, n.name, n.position), ', ') into need from /*schema*/day_needs(day, passed, true, 5) as n;
        if need is not null then
            need := need || '; the day ends at ' || passed;
            outcome := 'needed';
            return;
        end if;
        if exists (select from /*schema*/outbox_default) then
            -- Nobody had made the partition of this day, or of an earlier one that was stamped on this one.
            delete from /*schema*/outbox_default as o where o.day = drop_archived_day.day;
            if entries is not null then
                execute format('delete from /*schema*/outbox_default as o using %s as j'
                               ' where j.outbox_day < %L and o.seq = j.seq and o.day = j.outbox_day', entries, day);
            end if;
        end if;
        if entries is not null then
            -- Published just after midnight, by a clock that the stamp had asked just before.
            for early in execute format('select j.outbox_day, array_agg(j.seq) as seqs from %s as j where j.outbox_day > %L group by 1',
                                        entries, day)
            loop
                delete from /*schema*/outbox as o where o.day = early.outbox_day and o.seq = any (early.seqs);
                delete from /*schema*/outbox_archive as o where o.day = early.outbox_day and o.seq = any (early.seqs);
            end loop;
        end if;
        foreach parent in array array['journal', 'outbox'] loop
            continue when not exists (
                select from pg_inherits as i
                where i.inhrelid = to_regclass('/*schema*/' || parent || '_' || to_char(day, 'YYYYMMDD'))
                  and i.inhparent = ('/*schema*/' || parent || '_archive')::regclass);
            execute format('drop table /*schema*/%I', parent || '_' || to_char(day, 'YYYYMMDD'));
        end loop;
        update /*schema*/archive_day as d set dropped_at = clock_timestamp() where d.day = drop_archived_day.day;
        outcome := 'dropped';
    exception
        when lock_not_available or deadlock_detected then
            outcome := 'locked';
    end;
end
$$;
revoke all on function /*schema*/drop_archived_day(date) from public;

-- For as long as the transaction lasts no day is dropped: for whoever looks whether all is kept, and then begins to need it. Answers with the
-- last position that was dropped before.
create function /*schema*/keep_archive()
    returns bigint
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '10s'
as
$$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('/*schema*/archive drop', 0));
    -- A statement of its own, whose snapshot has what was dropped while the lock was waited for.
    return (select coalesce(max(d.passed_at), 0) from /*schema*/archive_day as d where d.dropped_at is not null);
end
$$;
revoke all on function /*schema*/keep_archive() from public;

-- The last position whose message is gone, dropped with its day: from there on everything is kept. Zero if nothing is gone.
-- If a day is missing, reads the narrow rows of the whole journal once: an operator's question, nothing to poll.
-- Archived days are kept, until they are dropped. What archived days do not tell of, somebody dropped by hand.
create function /*schema*/kept_after()
    returns bigint
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
declare
    days     date[] := /*schema*/outbox_days();
    archived date[] := (select coalesce(array_agg(d.day), '{}') from /*schema*/archive_day as d where d.has_messages);
    dropped  bigint := (select coalesce(max(d.passed_at), 0) from /*schema*/archive_day as d where d.dropped_at is not null);
    first    date;
    last     date;
begin
    days := days || archived;
    select tick.day into strict first from /*schema*/tick order by tick.position limit 1;
    select tick.day into strict last from /*schema*/tick order by tick.position desc limit 1;
    if (select bool_and(day::date = any (days)) from generate_series(first, last, interval '1 day') as day) then
        return dropped;
    end if;
    return greatest(dropped, (
        select max(j.position)
        from /*schema*/journal as j
        where j.outbox_day <> all (days)
          and not exists (select from /*schema*/outbox_default as o where o.seq = j.seq and o.day = j.outbox_day)
    ), (
        select max(j.position)
        from /*schema*/journal_archive as j
        where j.outbox_day <> all (days)
          and not exists (select from /*schema*/outbox_default as o where o.seq = j.seq and o.day = j.outbox_day)
    ));
end
$$;
revoke all on function /*schema*/kept_after() from public;

-- The first position after another whose message is still there, in the archive too; null if there is none. For the errors of read.
-- A message is stamped on its day or later: days of the journal before the first that the outbox has are passed over.
create function /*schema*/next_kept(after bigint)
    returns bigint
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
as
$$
declare
    days  date[] := /*schema*/outbox_days() || array(select d.day from /*schema*/archive_day as d where d.dropped_at is null);
    first date   := least((select min(day) from unnest(days) as day), (select min(o.day) from /*schema*/outbox_default as o));
    stray boolean := exists (select from /*schema*/outbox_default);
    entry record;
begin
    for entry in
        (select j.position, j.seq, j.outbox_day
         from /*schema*/journal_archive as j
         where j.position > after and j.day >= first and (stray or j.outbox_day = any (days))
         order by j.position)
        union all
        (select j.position, j.seq, j.outbox_day
         from /*schema*/journal as j
         where j.position > after and j.day >= first and (stray or j.outbox_day = any (days))
         order by j.position)
    loop
        perform from /*schema*/message_at(entry.seq, entry.outbox_day);
        if found then
            return entry.position;
        end if;
    end loop;
    return null;
end
$$;
revoke all on function /*schema*/next_kept(bigint) from public;

-- The next messages after a position, in order: at most so many, and no more than 16 MB unless it is one.
-- It looks into the days that these messages are in and no others, whatever the planner thinks of a join.
-- Never passes over anything in silence: a position that the journal has not reached, or whose next message is gone, is an error with
-- SQLSTATE 22023 whose detail is message.position-ahead or message.position-gone. The latter names the position to go on after.
-- It goes on in the archive. A message of an archived day may lie in the outbox's default partition, and one whose entry is archived in
-- the outbox: both are asked, by one statement, so that a day which is archived meanwhile is in one of them.
create function /*schema*/read(after bigint, at_most integer default 100)
    returns setof /*schema*/message
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    -- Planned anew each time, for the days in question alone, and with what the planner might choose for want of statistics ruled out.
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_nestloop = off
as
$$
#variable_conflict use_column
declare
    bytes_max constant bigint := 16777216;
    last_position bigint;
    archived      boolean := false;
    first_day     date;
    last_day      date;
    positions     bigint[];
    seqs          bigint[];
    days          date[];
    key_hashes    integer[];
    first_outbox  date;
    last_outbox   date;
    found_rows    bigint := 0;
    gone_until    bigint;
begin
    if after is null or after < 0 or at_most is null or at_most not between 1 and 10000 then
        raise exception 'could not read messages: after is % and at_most is %, the least is 0 and the range 1 to 10000',
            coalesce(after::text, 'null'), coalesce(at_most::text, 'null') using errcode = '22023', detail = 'message.read-invalid';
    end if;
    select tick.position, tick.day into strict last_position, last_day
    from /*schema*/tick order by tick.position desc limit 1;
    if after > last_position then
        raise exception 'could not read messages after position %: the journal ends at %; was the database restored or failed over?'
            ' Compare what you have applied with it, then set the offset', after, last_position
            using errcode = '22023', detail = 'message.position-ahead';
    end if;
    if last_position = after then
        return;
    end if;
    -- Positions grow with the days: those of two ticks enclose what is read.
    select tick.day into first_day from /*schema*/tick where tick.position <= after order by tick.position desc limit 1;
    if after + at_most < last_position then
        select tick.day into strict last_day
        from /*schema*/tick where tick.position >= after + at_most order by tick.position limit 1;
    end if;
    select array_agg(e.position order by e.position), array_agg(e.seq order by e.position), array_agg(e.outbox_day order by e.position),
           array_agg(e.key_hash order by e.position), min(e.outbox_day), max(e.outbox_day)
    into positions, seqs, days, key_hashes, first_outbox, last_outbox
    from (
        select j.position, j.seq, j.outbox_day, j.key_hash, j.bytes, sum(j.bytes) over (order by j.position) as bytes_until
        from (
            select entry.position, entry.seq, entry.outbox_day, entry.key_hash, entry.bytes
            from /*schema*/journal as entry
            where entry.position > after and entry.day between coalesce(first_day, '-infinity') and last_day
            order by entry.position
            limit at_most
        ) as j
    ) as e
    where e.bytes_until <= bytes_max or e.position = after + 1;

    -- Looked for after the journal and in the archive itself, not by archive_day: a day that is archived in between is found, whatever the
    -- snapshot of the caller.
    if positions[1] is distinct from after + 1 then
        select array_agg(e.position order by e.position), array_agg(e.seq order by e.position), array_agg(e.outbox_day order by e.position),
               array_agg(e.key_hash order by e.position), min(e.outbox_day), max(e.outbox_day)
        into positions, seqs, days, key_hashes, first_outbox, last_outbox
        from (
            select j.position, j.seq, j.outbox_day, j.key_hash, j.bytes, sum(j.bytes) over (order by j.position) as bytes_until
            from (
                select entry.position, entry.seq, entry.outbox_day, entry.key_hash, entry.bytes
                from /*schema*/journal_archive as entry
                where entry.position > after and entry.day between coalesce(first_day, '-infinity') and last_day
                order by entry.position
                limit at_most
            ) as j
        ) as e
        where e.bytes_until <= bytes_max or e.position = after + 1;
        archived := true;
    end if;
    if positions[1] = after + 1 and not archived then
        -- Up to the first that is missing: the next call says so.
        return query
        select k.position, k.id, k.tenant_id, k.aggregate_type, k.aggregate_id, k.aggregate_version, k.event_type, k.event_version,
               k.payload, k.headers, k.occurred_at, k.available_at, k.key_hash
        from (
            select e.position, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.event_type,
                   o.event_version, o.payload, o.headers, o.occurred_at, o.available_at, e.key_hash,
                   row_number() over (order by e.position) as nth
            from unnest(positions, seqs, days, key_hashes) as e (position, seq, day, key_hash)
            join /*schema*/outbox as o on o.seq = e.seq and o.day = e.day
            where o.seq = any (seqs) and o.day between first_outbox and last_outbox
        ) as k
        where k.nth = k.position - after
        order by k.position;
        get diagnostics found_rows = row_count;
    end if;
    if positions[1] = after + 1 and found_rows = 0 then
        -- The same with the archive of the outbox.
        return query
        select k.position, k.id, k.tenant_id, k.aggregate_type, k.aggregate_id, k.aggregate_version, k.event_type, k.event_version,
               k.payload, k.headers, k.occurred_at, k.available_at, k.key_hash
        from (
            select e.position, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.event_type,
                   o.event_version, o.payload, o.headers, o.occurred_at, o.available_at, e.key_hash,
                   row_number() over (order by e.position) as nth
            from unnest(positions, seqs, days, key_hashes) as e (position, seq, day, key_hash)
            join (
                select h.seq, h.day, h.id, h.tenant_id, h.aggregate_type, h.aggregate_id, h.aggregate_version, h.event_type,
                       h.event_version, h.payload, h.headers, h.occurred_at, h.available_at
                from /*schema*/outbox as h
                where h.seq = any (seqs) and h.day between first_outbox and last_outbox
                union all
                select a.seq, a.day, a.id, a.tenant_id, a.aggregate_type, a.aggregate_id, a.aggregate_version, a.event_type,
                       a.event_version, a.payload, a.headers, a.occurred_at, a.available_at
                from /*schema*/outbox_archive as a
                where a.seq = any (seqs) and a.day between first_outbox and last_outbox
            ) as o on o.seq = e.seq and o.day = e.day
        ) as k
        where k.nth = k.position - after
        order by k.position;
        get diagnostics found_rows = row_count;
    end if;
    if found_rows = 0 then
        gone_until := coalesce(/*schema*/next_kept(after) - 1, last_position);
        raise exception 'could not read messages after position %: those at positions % to % are gone, dropped with their days; read'
            ' after % to go on without them, or get them from where you keep such days', after, after + 1, gone_until, gone_until
            using errcode = '22023', detail = 'message.position-gone';
    end if;
end
$$;
revoke all on function /*schema*/read(bigint, integer) from public;

-- Makes the journal whole in a cluster that did not stamp it (a restored dump, a logical copy): xids of stored rows are set to
-- one that every snapshot sees, and every outbox row without a journal row gets a position, in the order of seq.
-- Takes as long as the retained outbox is large; publishing and delivery go on meanwhile.
-- The entry of a message may be archived: of one that lies in the default partition, or was written just after midnight. What
-- is archived has its position, and its xids are asked by nobody.
create function /*schema*/restamp(out restamped bigint, out last_position bigint)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
declare
    last    record;
    max_seq bigint;
    today   date := (now() at time zone 'utc')::date;
begin
    perform pg_advisory_xact_lock(hashtextextended('/*schema*/stamp', 0));
    if current_setting('synchronous_commit') = 'off' then
        perform set_config('synchronous_commit', 'local', true);
    end if;
    select tick.position, tick.day into strict last from /*schema*/tick order by tick.position desc limit 1;
    today := greatest(today, last.day);
    perform /*schema*/keep_partitions();
    -- A logical copy does not bring the sequence along. One that is not behind stays alone: others draw from it meanwhile, and it must not
    -- go back. The rows are asked first, so that what is drawn and committed in between does not look as if it was ahead.
    select greatest(max(o.seq), (select max(a.seq) from /*schema*/outbox_archive as a)) into max_seq from /*schema*/outbox as o;
    perform setval('/*schema*/outbox_seq_seq', max_seq) from /*schema*/outbox_seq_seq as sequence
    where sequence.last_value < max_seq or sequence.last_value = max_seq and not sequence.is_called;

    update /*schema*/outbox as o set xid = '3' where o.xid >= pg_snapshot_xmin(pg_current_snapshot());
    -- None of these ticks, nor the one below, bounds what a later stamp looks for: transactions that are open now may have drawn any seq,
    -- before the sequence was set, or after this transaction got its xid.
    update /*schema*/tick as t set xid = '3' where t.xid <> '3';

    with unstamped as materialized (
        select o.seq, o.day, /*schema*/key_hash(o.tenant_id, o.aggregate_type, o.aggregate_id) as key_hash,
               /*schema*/stored_bytes(o.payload, o.headers) as bytes
        from /*schema*/outbox as o
        where not exists (select 1 from /*schema*/journal as j where j.seq = o.seq and j.outbox_day = o.day)
          and not exists (select 1 from /*schema*/journal_archive as j where j.seq = o.seq and j.outbox_day = o.day)
    ), written as (
        insert into /*schema*/journal (position, seq, day, outbox_day, key_hash, bytes)
        select last.position + row_number() over (order by u.seq), u.seq, today, u.day, u.key_hash, u.bytes
        from unstamped as u
    ), ticked as (
        insert into /*schema*/tick (position, snapshot, xid, seq, day)
        select last.position + count(*), pg_current_snapshot(), '3',
               (select sequence.last_value - case when sequence.is_called then 0 else 1 end from /*schema*/outbox_seq_seq as sequence), today
        from unstamped
        on conflict (position) do update
            set snapshot = excluded.snapshot, target = null, cut = null, xid = excluded.xid, seq = excluded.seq,
                day = excluded.day, at = excluded.at
    )
    select count(*) into restamped from unstamped;

    insert into /*schema*/cluster (system_identifier) select control.system_identifier from pg_control_system() as control;
    last_position := last.position + restamped;
end
$$;
revoke all on function /*schema*/restamp() from public;

insert into /*schema*/migration (version, name) values (16, 'archive');
