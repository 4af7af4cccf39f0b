-- What a request was answered, by the key that its client chose: asked again, the same is answered and nothing is done again.

-- What columns of the table below must be, by their types: PostgreSQL reads the rule of a domain once in a session, and the check of a
-- table anew for every insert, which cost two thirds of it.
create domain /*schema*/key_tenant as text
    constraint key_tenant check (length(value) <= 200);
create domain /*schema*/key_scope as text
    constraint key_scope check (length(value) <= 100 and value ~ '^[a-z][a-z0-9_.-]*$');
create domain /*schema*/key_text as text
    constraint key_text check (length(value) <= 255 and value ~ '^[\x20-\x7e]+$');
create domain /*schema*/request_hash as bytea
    constraint request_hash check (octet_length(value) = 32);

create table /*schema*/idempotency_key (
    -- Empty where there are no tenants. First: no tenant ever meets the keys of another.
    tenant_id      /*schema*/key_tenant   not null,
    -- What is asked for: order.create, payment.capture.
    scope          /*schema*/key_scope    not null,
    key            /*schema*/key_text     not null,
    request_hash   /*schema*/request_hash not null,
    -- running    in steps, some of which may be committed; whoever holds the lease goes on. Not called pending: nothing lies here
    --            waiting to be begun, and a command of one transaction is not seen before it has ended.
    -- completed  answered
    -- failed     answered with a status of 400 or more
    state          text                   not null,
    status_code    smallint,
    -- The bytes that were answered: as jsonb they would come back in another order.
    response       bytea,
    headers        json,
    created_at     timestamptz            not null default clock_timestamp(),
    completed_at   timestamptz,
    -- From then on the key is as if it had never been there, unless it is running.
    expires_at     timestamptz            not null,
    -- While it runs: until when nobody else may go on.
    leased_until   timestamptz,
    -- Grows with every change of owner, over deletes too: the first is the time in microseconds. A step with an older one changes
    -- nothing. Zero if there were no steps.
    fence          bigint                 not null default 0,
    -- How many steps are committed, the name of the last, and what they left for later.
    recovery_point integer                not null default 0,
    step           text,
    recovery       json,
    primary key (tenant_id, scope, key)
);
-- Without those that run: they are not purged, and must not be read again and again before those that are.
create index idempotency_key_expires on /*schema*/idempotency_key (expires_at) where state <> 'running';
-- The few that operators look for, and that somebody must go on with. Without the lease, so that renewing one changes no index.
create index idempotency_key_notable on /*schema*/idempotency_key (state, tenant_id, scope, key) where state <> 'completed';

-- It has an answer or a lease, and a name for its last step if it has made one. Not a check: PostgreSQL reads the checks of a table anew for every
-- insert, which cost a fifth of it; the two statements that insert give a key one of these states by what they are.
create function /*schema*/refuse_key_state()
    returns trigger
    language plpgsql
as
$$
begin
    raise exception using errcode = 'check_violation', constraint = tg_name, schema = tg_table_schema, table = tg_table_name,
        message = format('idempotency key %s of scope %s cannot be %s with status %s, %s, leased until %s, %s steps done and %s the last',
                         new.key, new.scope, new.state, coalesce(new.status_code::text, 'none'),
                         case when new.response is null then 'no answer' else 'an answer' end, coalesce(new.leased_until::text, 'never'),
                         new.recovery_point, coalesce(new.step, 'none')),
        hint = 'keys change by Postroom''s own statements: use postroom idempotency release';
end
$$;
revoke all on function /*schema*/refuse_key_state() from public;
create trigger idempotency_key_state after update on /*schema*/idempotency_key for each row
    when (new.state <> case when new.status_code is null then 'running' when new.status_code < 400 then 'completed' else 'failed' end
          or new.status_code not between 200 and 599 or num_nonnulls(new.status_code, new.response, new.completed_at) not in (0, 3)
          or (new.status_code is null) <> (new.leased_until is not null) or (new.recovery_point = 0) <> (new.step is null))
    execute function /*schema*/refuse_key_state();

-- Sessions keep the plan of a claim for as long as they live; one that was made while the table had next to no pages would read all of it
-- later. So it has some from the beginning, and keeps them.
alter table /*schema*/idempotency_key set (vacuum_truncate = off);
insert into /*schema*/idempotency_key
    (tenant_id, scope, key, request_hash, state, status_code, response, completed_at, expires_at)
select '', 'room', n::text, sha256(''), 'completed', 200, convert_to(repeat('x', 1700), 'UTF8'), now(), now()
from generate_series(1, 100) as n;
delete from /*schema*/idempotency_key;

-- Forgets up to batch_max answers that have expired, oldest first, and says how many. Running keys stay: what their steps have
-- done would be done again. Runs with its owner's rights, so that a relay needs none of them.
create function /*schema*/purge_keys(batch_max integer)
    returns integer
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
declare
    purged integer;
begin
    if batch_max is null or batch_max not between 1 and 100000 then
        raise exception 'could not purge idempotency keys: batch_max is %, the range is 1 to 100000', coalesce(batch_max::text, 'null')
            using errcode = '22023';
    end if;
    -- By their place: joined by key, a plan for a table that is thought to be empty compares each with each.
    delete from /*schema*/idempotency_key as k
    where k.ctid = any (array(
        select e.ctid
        from /*schema*/idempotency_key as e
        -- In a query of its own the time is one value, which an index can be searched for; by itself it is compared row by row.
        where e.state <> 'running' and e.expires_at <= (select clock_timestamp())
        order by e.expires_at
        limit batch_max
        for update skip locked
    ));
    get diagnostics purged = row_count;
    return purged;
end
$$;
revoke all on function /*schema*/purge_keys(integer) from public;

-- How many keys were left in the middle of their steps, so long ago that nobody seems to go on with them; counted up to a limit. Reads
-- the running ones, which are few. Index: idempotency_key_notable. Runs with its owner's rights, so that a relay needs none of them.
create function /*schema*/lapsed_keys(lapsed_for interval, count_max integer)
    returns bigint
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as
$$
    select count(*)
    from (
        select
        from /*schema*/idempotency_key as k
        where k.state = 'running' and k.leased_until < clock_timestamp() - lapsed_for
        limit count_max
    ) as lapsed
$$;
revoke all on function /*schema*/lapsed_keys(interval, integer) from public;

insert into /*schema*/migration (version, name) values (9, 'idempotency');
