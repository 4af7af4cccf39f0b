-- Read models: tables that projections keep, their generations, and how fresh they are. Materialized views and when they are refreshed.

alter table /*schema*/subscription
    -- What gets its messages. A projection would apply a message twice that is replayed; behind an inbox it does not.
    add column receiver text not null default 'sink',
    add constraint subscription_receiver check (receiver in ('sink', 'projection', 'inbox'));

create table /*schema*/read_model (
    -- Also the schema in which its live tables are.
    name             text        not null primary key,
    freshness        text        not null,
    -- How old the oldest message may be that it has not applied.
    freshness_limit  interval    not null,
    -- The newest version of its tables that any relay has said it serves: what a rebuild makes.
    version          integer     not null,
    -- Columns that comparisons leave out, as column or table.column.
    ignored          text[]      not null default '{}',
    -- Grows with each swap: a name means other tables then.
    epoch            bigint      not null default 0,
    -- Numbers are never given twice.
    last_generation  integer     not null default 0,
    -- The generation that was left by the last rollback, until the next swap.
    rolled_back_from integer,
    created_at       timestamptz not null default clock_timestamp(),
    constraint read_model_name check (name ~ '^[a-z][a-z0-9_]{0,49}$' and name !~ '^pg_'),
    constraint read_model_freshness check (freshness in ('fresh', 'seconds', 'minutes', 'daily')),
    constraint read_model_limit check (freshness_limit > interval '0'),
    constraint read_model_version check (version between 1 and 1000000)
);

-- One set of tables of a read model, with a schema and a subscription of its own.
create table /*schema*/generation (
    read_model   text        not null references /*schema*/read_model (name) on delete cascade,
    number       integer     not null,
    version      integer     not null,
    -- asked     somebody wants it; a relay that serves this version makes it
    -- building  beside the live one, on its way to the present
    -- live      what the read model's name means
    -- former    was live; kept up to date, so that a swap can be undone
    state        text        not null,
    schema_name  text        not null generated always as (case when state = 'live' then read_model else read_model || '_g' || number::text end) stored,
    subscription text        unique references /*schema*/subscription (name),
    -- What made its tables.
    ddl          text,
    began_after  bigint      not null,
    -- Until hold_until its lanes go no further than hold_at: somebody compares. Ends by itself if that one goes away.
    hold_at      bigint,
    hold_until   timestamptz,
    -- The generation that was live before this one.
    replaced     integer,
    asked_at     timestamptz not null default clock_timestamp(),
    -- A relay asks for the first one when it starts, and if it could not be made the next relay does so anew, with a beginning of its own.
    -- What an operator has asked for begins where they said.
    asked_by     text        not null default 'operator',
    made_at      timestamptz,
    live_at      timestamptz,
    -- Why it could not be made.
    error        text,
    primary key (read_model, number),
    constraint generation_number check (number >= 1),
    constraint generation_state check (state in ('asked', 'building', 'live', 'former')),
    constraint generation_asked_by check (asked_by in ('operator', 'relay')),
    constraint generation_made check ((state = 'asked') = (made_at is null) and (made_at is null) = (subscription is null)
                                      and (made_at is null) = (ddl is null)),
    constraint generation_hold check ((hold_at is null) = (hold_until is null))
);
create unique index generation_live on /*schema*/generation (read_model) where state = 'live';
-- One at a time.
create unique index generation_building on /*schema*/generation (read_model) where state in ('asked', 'building');

-- How old the oldest message is that the live generation of a read model has not applied, and how old it may be. No row: no such model.
-- What has no position yet counts too, so that a model does not look fresh because nobody stamps. Index: the primary keys, delivery_head,
-- outbox_xid.
create function /*schema*/freshness(read_model text, out freshness text, out age interval, out age_max interval, out fresh boolean)
    returns setof record
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
    select r.freshness, waiting.age, r.freshness_limit, waiting.age <= r.freshness_limit
    from /*schema*/read_model as r
    join /*schema*/generation as g on g.read_model = r.name and g.state = 'live'
    cross join lateral (select min(l.position) as position from /*schema*/lane as l where l.subscription = g.subscription) as lanes
    cross join lateral (
        select min(v.position) as position
        from /*schema*/delivery as v
        where v.subscription = g.subscription and v.state in ('waiting', 'sending', 'held', 'unreadable')
    ) as deliveries
    left join lateral (
        select t.at
        from /*schema*/tick as t
        where t.position >= least(lanes.position + 1, deliveries.position)
        order by t.position
        limit 1
    ) as oldest on true
    cross join lateral /*schema*/unstamped(1) as unstamped
    cross join lateral (
        select greatest(clock_timestamp() - least(oldest.at, unstamped.since), interval '0') as age
    ) as waiting
    where r.name = freshness.read_model
$$;
revoke all on function /*schema*/freshness(text) from public;

-- The following have the rights of whoever calls them: a generation's schema belongs to the login of the relay that makes it.
create function /*schema*/make_schema(schema_name text)
    returns void
    language plpgsql
as
$$
begin
    execute format('create schema %I', schema_name);
    perform set_config('search_path', quote_ident(schema_name) || coalesce(', ' || nullif(current_setting('search_path'), ''), ''), true);
end
$$;
revoke all on function /*schema*/make_schema(text) from public;

create function /*schema*/let_read(schema_name text, readers text[])
    returns void
    language plpgsql
as
$$
declare
    reader text;
begin
    foreach reader in array readers loop
        execute format('grant usage on schema %I to %I', schema_name, reader);
        execute format('grant select on all tables in schema %I to %I', schema_name, reader);
    end loop;
end
$$;
revoke all on function /*schema*/let_read(text, text[]) from public;

-- Gives two schemas each other's place: live_schema becomes former_schema, and candidate_schema live_schema.
create function /*schema*/swap_schemas(live_schema text, former_schema text, candidate_schema text)
    returns void
    language plpgsql
as
$$
begin
    execute format('alter schema %I rename to %I', live_schema, former_schema);
    execute format('alter schema %I rename to %I', candidate_schema, live_schema);
end
$$;
revoke all on function /*schema*/swap_schemas(text, text, text) from public;

-- Drops a schema and all that is in it, and nothing else: what hangs on it from elsewhere is an error with SQLSTATE 2BP01 that names it.
create function /*schema*/drop_schema(schema_name text)
    returns void
    language plpgsql
as
$$
declare
    namespace oid := to_regnamespace(quote_ident(schema_name));
    commands  text[];
    left_over text[];
    command   text;
    detail    text;
    problems  text[];
begin
    if namespace is null then
        return;
    end if;
    -- All tables at once: they may refer to each other. Everything else one by one, again and again, until nothing more goes.
    select array_agg(object.command) into commands
    from (
        select 'drop table ' || string_agg(c.oid::regclass::text, ', ') as command
        from pg_class as c
        where c.relnamespace = namespace and c.relkind in ('r', 'p') and not c.relispartition
        having count(*) > 0
        union all
        select case c.relkind when 'v' then 'drop view ' when 'm' then 'drop materialized view ' when 'f' then 'drop foreign table '
                    else 'drop sequence ' end || c.oid::regclass::text
        from pg_class as c
        where c.relnamespace = namespace
          and (c.relkind in ('v', 'm', 'f')
               or c.relkind = 'S' and not exists (select from pg_depend as d where d.objid = c.oid and d.deptype in ('a', 'i')))
        union all
        select 'drop routine ' || p.oid::regprocedure::text
        from pg_proc as p
        where p.pronamespace = namespace
        union all
        select 'drop type ' || t.oid::regtype::text
        from pg_type as t
        left join pg_class as c on c.oid = t.typrelid
        where t.typnamespace = namespace and t.typelem = 0 and (t.typrelid = 0 or c.relkind = 'c') and t.typtype <> 'm'
    ) as object;
    commands := coalesce(commands, '{}');
    loop
        left_over := '{}';
        problems := '{}';
        foreach command in array commands loop
            begin
                execute command;
            exception
                when dependent_objects_still_exist then
                    get stacked diagnostics detail = pg_exception_detail;
                    left_over := left_over || command;
                    problems := problems || string_to_array(detail, E'\n');
            end;
        end loop;
        exit when left_over = '{}';
        if left_over = commands then
            -- Without what hangs on it from within, if that can be told.
            raise exception '%', (
                select coalesce(string_agg(distinct line, '; ') filter (
                                    where strpos(split_part(line, ' depends on ', 1), ' ' || quote_ident(schema_name) || '.') = 0),
                                string_agg(distinct line, '; '))
                from unnest(problems) as line
            ) using errcode = '2BP01';
        end if;
        commands := left_over;
    end loop;
    begin
        execute format('drop schema %I', schema_name);
    exception
        when dependent_objects_still_exist then
            get stacked diagnostics detail = pg_exception_detail;
            raise exception '%', replace(detail, E'\n', '; ') using errcode = '2BP01';
    end;
end
$$;
revoke all on function /*schema*/drop_schema(text) from public;

-- Compares a table of two schemas row by row, in the columns that both have and that are not ignored, and names the columns that only
-- one has. Rows are told apart by the primary key if both have the same one, else by all they hold. Values are compared as PostgreSQL
-- writes them.
create function /*schema*/compare_tables(live_schema text, candidate_schema text, table_name text, ignored text[], examples_max integer,
    out live_rows bigint, out candidate_rows bigint, out only_live bigint, out only_candidate bigint, out different bigint,
    out examples text[], out lone_columns text[])
    language plpgsql
as
$$
declare
    live_table      regclass := to_regclass(format('%I.%I', live_schema, table_name));
    candidate_table regclass := to_regclass(format('%I.%I', candidate_schema, table_name));
    all_columns     text;
    key_columns     text[];
    key_list        text;
    rows_of         text := 'select %s as key, (row(%s))::text as value, count(*) as n from %s group by 1, 2';
begin
    examples := '{}';
    select coalesce(array_agg(each.name || case when each.live then ' only live' else ' only candidate' end order by each.name), '{}')
    into lone_columns
    from (
        select a.attname as name, bool_or(a.attrelid = live_table) as live
        from pg_attribute as a
        where a.attrelid in (live_table, candidate_table) and a.attnum > 0 and not a.attisdropped
          and a.attname <> all (ignored) and table_name || '.' || a.attname <> all (ignored)
        group by a.attname
        having count(*) = 1
    ) as each;
    if live_table is null or candidate_table is null then
        execute format('select count(*) from %s', coalesce(live_table, candidate_table)::text) into live_rows;
        candidate_rows := case when candidate_table is null then 0 else live_rows end;
        live_rows := case when live_table is null then 0 else live_rows end;
        only_live := live_rows;
        only_candidate := candidate_rows;
        different := 0;
        return;
    end if;
    select string_agg(quote_ident(l.attname), ', ' order by l.attname) into all_columns
    from pg_attribute as l
    join pg_attribute as c on c.attrelid = candidate_table and c.attname = l.attname and c.attnum > 0 and not c.attisdropped
    where l.attrelid = live_table and l.attnum > 0 and not l.attisdropped
      and l.attname <> all (ignored) and table_name || '.' || l.attname <> all (ignored);
    -- The key of both, if it is the same and none of it is ignored.
    select k.columns into key_columns
    from (
        select i.indrelid, array_agg(a.attname::text order by a.attname) as columns
        from pg_index as i
        join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        where i.indisprimary and i.indrelid in (live_table, candidate_table)
        group by i.indrelid
    ) as k
    group by k.columns
    having count(*) = 2
       and not exists (select from unnest(k.columns) as c where c = any (ignored) or table_name || '.' || c = any (ignored));
    all_columns := coalesce(all_columns, 'null');
    key_list := case when key_columns is null then format('(row(%s))::text', all_columns)
                     else format('(row(%s))::text', (select string_agg(quote_ident(c), ', ' order by c) from unnest(key_columns) as c)) end;
    execute format(
        $query$
        with pairs as (
            select coalesce(l.key, c.key) as key, coalesce(l.n, 0) as live, coalesce(c.n, 0) as candidate,
                   l.n is not null and c.n is not null and l.value is distinct from c.value as differs
            from (%s) as l
            full join (%s) as c on c.key = l.key
        ), odd as (
            select key, case when live > candidate then 'only live' when live < candidate then 'only candidate' else 'different' end as what
            from pairs
            where live <> candidate or differs
            order by key
            limit $1
        )
        select coalesce(sum(live), 0), coalesce(sum(candidate), 0), coalesce(sum(greatest(live - candidate, 0)), 0),
               coalesce(sum(greatest(candidate - live, 0)), 0), count(*) filter (where differs),
               (select coalesce(array_agg(left(key, 200) || ' ' || what order by key), '{}') from odd)
        from pairs
        $query$,
        format(rows_of, key_list, all_columns, live_table), format(rows_of, key_list, all_columns, candidate_table))
    into live_rows, candidate_rows, only_live, only_candidate, different, examples
    using examples_max;
end
$$;
revoke all on function /*schema*/compare_tables(text, text, text, text[], integer) from public;

-- Materialized views that are refreshed by whichever node finds them due first.
create table /*schema*/materialized_view (
    -- As schema.view.
    name         text        not null primary key,
    every        interval    not null,
    -- When the next refresh is due; moved on when one begins to be due again, also after a failure.
    due_at       timestamptz not null default clock_timestamp(),
    refreshed_at timestamptz,
    took         interval,
    -- Why the last refresh failed, if it did.
    failed_at    timestamptz,
    error        text,
    failures     integer     not null default 0,
    created_at   timestamptz not null default clock_timestamp(),
    constraint materialized_view_name check (name ~ '^[^.]{1,63}\.[^.]{1,63}$'),
    constraint materialized_view_every check (every between interval '1 second' and interval '31 days'),
    constraint materialized_view_failed check ((failed_at is null) = (error is null))
);

create function /*schema*/refresh_view(view_name regclass, populated boolean)
    returns void
    language plpgsql
as
$$
begin
    if view_name is null then
        raise exception 'could not refresh a materialized view: no name was given' using errcode = '22004';
    end if;
    execute format('refresh materialized view %s %s', case when populated then 'concurrently' else '' end, view_name);
end
$$;
revoke all on function /*schema*/refresh_view(regclass, boolean) from public;

insert into /*schema*/migration (version, name) values (11, 'projection');
