-- Locks by name: those that a transaction holds, and leases for work that outlives one.

-- The number that stands for a name among PostgreSQL's advisory locks. 64 bits: of 32, a few hundred thousand names would share some.
-- Whoever else uses advisory locks in this database draws from the same numbers.
create function /*schema*/lock_key(name text)
    returns bigint
    language sql
    immutable
    strict
    parallel safe
    set search_path = pg_catalog, pg_temp
return hashtextextended(lock_key.name, hashtextextended('/*schema*/lock', 0));
revoke all on function /*schema*/lock_key(text) from public;

-- Refuses what cannot be the name of a lock; the rules are those of LockName in Java.
create function /*schema*/check_lock(name text)
    returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
as
$$
declare
    -- Not [[:cntrl:]]: what that means depends on the database's locale.
    control constant text := '[\u0001-\u001f\u007f-\u009f]';
begin
    if name is null or length(name) not between 1 and 200 or name ~ control then
        raise exception 'could not use lock %: its name is of % characters, it must be 1 to 200 without control characters',
            coalesce(quote_literal(regexp_replace(left(name, 60), control, '?', 'g')), 'null'), coalesce(length(name), 0)
            using errcode = '22023', detail = 'lock.name-invalid';
    end if;
    -- A standby grants such locks too, but nobody on the primary knows of them.
    if pg_is_in_recovery() then
        raise exception 'could not use lock %: this server is a standby; use the primary', quote_literal(name)
            using errcode = '25006';
    end if;
end
$$;
revoke all on function /*schema*/check_lock(text) from public;

-- Holds a lock until this transaction ends, if nobody else does; says whether it could. Does not wait.
create function /*schema*/try_hold(name text)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as
$$
begin
    perform /*schema*/check_lock(name);
    return pg_try_advisory_xact_lock(/*schema*/lock_key(name));
end
$$;
revoke all on function /*schema*/try_hold(text) from public;

-- The same, but waits for whoever has it, for wait_millis at most. The transaction can go on when that was too short.
create function /*schema*/hold(name text, wait_millis integer)
    returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as
$$
declare
    before text := current_setting('lock_timeout');
begin
    perform /*schema*/check_lock(name);
    if wait_millis is null or wait_millis not between 1 and 3600000 then
        raise exception 'could not hold lock %: wait_millis is %, the range is 1 to 3600000; try_hold does not wait',
            quote_literal(name), coalesce(wait_millis::text, 'null')
            using errcode = '22023', detail = 'lock.wait-invalid';
    end if;
    begin
        perform set_config('lock_timeout', wait_millis::text, true);
        perform pg_advisory_xact_lock(/*schema*/lock_key(name));
        perform set_config('lock_timeout', before, true);
    exception
        -- What was set in here is undone with it.
        when lock_not_available then
            return false;
    end;
    return true;
end
$$;
revoke all on function /*schema*/hold(text, integer) from public;

-- Names that were used lately, by their numbers: how two that share one are found. Nothing else depends on it.
create table /*schema*/lock_name (
    key      bigint      not null primary key,
    name     text        not null,
    noted_at timestamptz not null default clock_timestamp(),
    constraint lock_name_length check (length(name) between 1 and 200)
);
create index lock_name_noted on /*schema*/lock_name (noted_at);

-- One row per name that was ever leased; updated in place every few seconds while somebody has it.
create table /*schema*/lease (
    name         text        not null primary key,
    -- Null: nobody has it.
    holder       uuid,
    -- Where the holder is, or was, for people.
    node         text        not null,
    -- Grows whenever the lease is taken, for ever: it is not smaller than the time in microseconds, so that it grows even if the row
    -- was purged or a backup restored meanwhile.
    fence        bigint      not null,
    leased_until timestamptz,
    taken_at     timestamptz not null default clock_timestamp(),
    constraint lease_name check (length(name) between 1 and 200),
    constraint lease_node check (length(node) between 1 and 200),
    constraint lease_held check ((holder is null) = (leased_until is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lease_taken on /*schema*/lease (taken_at);

-- Forgets up to batch_max leases that were taken more than 30 days ago and that nobody has, and as many names of locks that were not used
-- for so long; says how many went, of whichever were more. Runs with its owner's rights, so that a relay needs none of them.
create function /*schema*/purge_locks(batch_max integer)
    returns integer
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
declare
    old    constant timestamptz := clock_timestamp() - interval '30 days';
    leases integer;
    names  integer;
begin
    if batch_max is null or batch_max not between 1 and 100000 then
        raise exception 'could not purge locks: batch_max is %, the range is 1 to 100000', coalesce(batch_max::text, 'null')
            using errcode = '22023';
    end if;
    with idle as materialized (
        select l.name
        from /*schema*/lease as l
        where l.taken_at < old and (l.holder is null or l.leased_until < old)
        order by l.taken_at
        limit batch_max
        for update skip locked
    )
    delete from /*schema*/lease as l using idle where l.name = idle.name;
    get diagnostics leases = row_count;
    with unused as materialized (
        select n.key
        from /*schema*/lock_name as n
        where n.noted_at < old
        order by n.noted_at
        limit batch_max
        for update skip locked
    )
    delete from /*schema*/lock_name as n using unused where n.key = unused.key;
    get diagnostics names = row_count;
    return greatest(leases, names);
end
$$;
revoke all on function /*schema*/purge_locks(integer) from public;

insert into /*schema*/migration (version, name) values (13, 'lock');
