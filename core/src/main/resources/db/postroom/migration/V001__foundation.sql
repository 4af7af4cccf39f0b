-- What every other migration needs: the record of migrations, the identity of the cluster, and partitions made ahead.
-- The word schema between comment marks is replaced by the schema's name and a dot; see docs/schema.md for Flyway and psql.

create table if not exists /*schema*/migration (
    version    integer     not null primary key,
    name       text        not null,
    -- SHA-256 of the file, written by Postroom's own migrator; null when another tool ran the file.
    checksum   text,
    applied_at timestamptz not null default clock_timestamp(),
    applied_by text        not null default current_user
);

-- Which cluster stamped the journal. Transaction ids mean nothing in another one: a restore is noticed by this.
create table /*schema*/cluster (
    system_identifier bigint      not null,
    since             timestamptz not null default clock_timestamp()
);
insert into /*schema*/cluster (system_identifier)
select system_identifier from pg_control_system();

-- Which tables are cut into daily partitions by a column named day.
create table /*schema*/daily_table (
    name        text    not null primary key,
    -- Written by applications: has a default partition, so that an insert succeeds even if nobody made the day's own.
    has_default boolean not null,
    -- Unique within a day, and indexed in each partition: the planner knows that much without statistics.
    unique_column text  not null
);

-- Makes the partitions of every daily table from yesterday to today plus :lead_days, and says which ones are new.
-- Attaching takes SHARE UPDATE EXCLUSIVE on the parent, which readers and writers do not notice, and for a moment ACCESS
-- EXCLUSIVE on the default partition. A transaction that has read the whole table (a dump, a report) holds a lock on that one,
-- and everybody else would queue behind us: so we wait for it only shortly, leave the rest for the next run and say so in a
-- warning. Safe to run at any time, by any number of nodes. Runs with its owner's rights, so that a relay needs none of them.
create function /*schema*/keep_partitions(lead_days integer default 7)
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
        if parent.has_default and to_regclass(format('%I.%I', parent.nspname, partition)) is null then
            execute format('create table %1$I.%2$I partition of %1$I.%3$I default', parent.nspname, partition, parent.name);
            execute format('create unique index on %I.%I (%I)', parent.nspname, partition, parent.unique_column);
            execute format('create index on %I.%I (day)', parent.nspname, partition);
            return next partition;
        end if;
        for day in select generate_series(today - 1, today + lead_days, interval '1 day')::date
        loop
            partition := parent.name || '_' || to_char(day, 'YYYYMMDD');
            continue when to_regclass(format('%I.%I', parent.nspname, partition)) is not null;
            begin
                execute format(
                    'create table %1$I.%2$I (like %1$I.%3$I including defaults including constraints including storage)',
                    parent.nspname, partition, parent.name);
                execute format('create unique index on %I.%I (%I)', parent.nspname, partition, parent.unique_column);
                execute format(
                    'alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$L) to (%5$L)',
                    parent.nspname, partition, parent.name, day, day + 1);
                return next partition;
            exception
                -- The default partition already has messages of that day: they stay there and are delivered from there.
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
revoke all on function /*schema*/keep_partitions(integer) from public;

insert into /*schema*/migration (version, name) values (1, 'foundation');
