-- What a request was answered, by the key that its client chose: asked again, the same is answered and nothing is done again.

-- Checks of the table below. As functions: PostgreSQL reads the tree of a check anew for every insert, which cost two thirds of it; a
-- function is read once in a session.
create function /*schema*/is_key(tenant_id text, scope text, key text, request_hash bytea)
    returns boolean
    language plpgsql
    immutable parallel safe
as
$$
begin
    return length(tenant_id) <= 200 and length(scope) <= 100 and scope ~ '^[a-z][a-z0-9_.-]*$'
        and length(key) <= 255 and key ~ '^[\x20-\x7e]+$' and octet_length(request_hash) = 32;
end
$$;
revoke all on function /*schema*/is_key(text, text, text, bytea) from public;

create function /*schema*/is_key_state(
    state text, status_code smallint, response bytea, completed_at timestamptz, leased_until timestamptz, recovery_point integer,
    step text
)
    returns boolean
    language plpgsql
    immutable parallel safe
as
$$
begin
    return state = case when status_code is null then 'running' when status_code < 400 then 'completed' else 'failed' end
        and status_code between 200 and 599 is not false and num_nonnulls(status_code, response, completed_at) in (0, 3)
        and (status_code is null) = (leased_until is not null)
        and (recovery_point = 0) = (step is null);
end
$$;
revoke all on function /*schema*/is_key_state(text, smallint, bytea, timestamptz, timestamptz, integer, text) from public;

create table /*schema*/idempotency_key (
    -- Empty where there are no tenants. First: no tenant ever meets the keys of another.
    tenant_id      text        not null,
    -- What is asked for: order.create, payment.capture.
    scope          text        not null,
    key            text        not null,
    request_hash   bytea       not null,
    -- running    in steps, some of which may be committed; whoever holds the lease goes on. Not called pending: nothing lies here
    --            waiting to be begun, and a command of one transaction is not seen before it has ended.
    -- completed  answered
    -- failed     answered with a status of 400 or more
    state          text        not null,
    status_code    smallint,
    -- The bytes that were answered: as jsonb they would come back in another order.
    response       bytea,
    headers        json,
    created_at     timestamptz not null default clock_timestamp(),
    completed_at   timestamptz,
    -- From then on the key is as if it had never been there, unless it is running.
    expires_at     timestamptz not null,
    -- While it runs: until when nobody else may go on.
    leased_until   timestamptz,
    -- Grows with every change of owner, over deletes too: the first is the time in microseconds. A step with an older one changes
    -- nothing. Zero if there were no steps.
    fence          bigint      not null default 0,
    -- How many steps are committed, the name of the last, and what they left for later.
    recovery_point integer     not null default 0,
    step           text,
    recovery       json,
    primary key (tenant_id, scope, key),
    constraint idempotency_key_form check (/*schema*/is_key(tenant_id, scope, key, request_hash)),
    constraint idempotency_key_state check (
        /*schema*/is_key_state(state, status_code, response, completed_at, leased_until, recovery_point, step))
);
-- Without those that run: they are not purged, and must not be read again and again before those that are.
create index idempotency_key_expires on /*schema*/idempotency_key (expires_at) where state <> 'running';
-- The few that operators look for, and that somebody must go on with. Without the lease, so that renewing one changes no index.
create index idempotency_key_notable on /*schema*/idempotency_key (state, tenant_id, scope, key) where state <> 'completed';

-- What is known about a key; if nothing is, the right to do its command until the end of this transaction. Nobody waits.
-- Answers with state:
--   free       nobody has it: the caller does, until this transaction ends
--   busy       another transaction has it, has taken it over just now, or purges it
--   running    it is done in steps; leased: by somebody who is alive. If not, the caller has the right to go on
--   completed, failed   its answer
-- same: whether it was asked with the same hash; if not, nothing of the answer is told.
-- A lock by a hash of 64 bits: two keys that share one cost each other nothing but a busy now and then. It is freed after the commit
-- is seen by others, and every statement here has a snapshot of its own: whoever gets the lock sees what its last holder wrote.
create function /*schema*/claim_key(
    for_tenant text,
    for_scope text,
    for_key text,
    hash bytea,
    out state text,
    out same boolean,
    out leased boolean,
    out status_code smallint,
    out headers json,
    out response bytea,
    out fence bigint,
    out recovery json,
    -- When this transaction began: what is stored must be of the same.
    out began timestamptz
)
    language plpgsql
    -- A plan is kept as long as its session: one that was made when the table was small must not read all of it later.
    set enable_seqscan = off
as
$$
declare
    found_key record;
    locked    boolean;
begin
    began := now();
    -- The lock first: what is read after it cannot be older than what its last holder has committed.
    locked := pg_try_advisory_xact_lock(
        hashtextextended(for_key, hashtextextended(for_scope, hashtextextended(for_tenant,
            hashtextextended('/*schema*/idempotency_key', 0)))));
    select k.state, k.request_hash, k.leased_until > clock_timestamp() as leased, k.expires_at <= clock_timestamp() as expired,
           k.status_code, k.headers, k.response, k.fence, k.recovery
    into found_key
    from /*schema*/idempotency_key as k
    where k.tenant_id = for_tenant and k.scope = for_scope and k.key = for_key;
    if not locked and (found_key.state = 'running' and found_key.leased or found_key.state <> 'running' and not found_key.expired)
       is not true then
        state := 'busy';
        return;
    end if;
    if found_key.state is null then
        state := 'free';
        return;
    end if;
    if found_key.state <> 'running' and found_key.expired then
        -- A purge may be deleting it just now. It is not waited for.
        perform from /*schema*/idempotency_key as k
        where k.tenant_id = for_tenant and k.scope = for_scope and k.key = for_key
          and k.state <> 'running' and k.expires_at <= clock_timestamp()
        for update skip locked;
        if not found then
            state := 'busy';
            return;
        end if;
        delete from /*schema*/idempotency_key as k
        where k.tenant_id = for_tenant and k.scope = for_scope and k.key = for_key;
        state := 'free';
        return;
    end if;
    state := found_key.state;
    same := found_key.request_hash = hash;
    leased := coalesce(found_key.leased, false);
    fence := found_key.fence;
    if same then
        status_code := found_key.status_code;
        headers := found_key.headers;
        response := found_key.response;
        recovery := found_key.recovery;
    end if;
end
$$;
revoke all on function /*schema*/claim_key(text, text, text, bytea) from public;

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
    with expired as materialized (
        select k.tenant_id, k.scope, k.key
        from /*schema*/idempotency_key as k
        -- In a query of its own the time is one value, which an index can be searched for; by itself it is compared row by row.
        where k.state <> 'running' and k.expires_at <= (select clock_timestamp())
        order by k.expires_at
        limit batch_max
        for update skip locked
    )
    delete from /*schema*/idempotency_key as k
    using expired
    where k.tenant_id = expired.tenant_id and k.scope = expired.scope and k.key = expired.key;
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
