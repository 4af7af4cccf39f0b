-- Least privilege for schema /*name*/. Run as a superuser, or as the role that migrated if it may create roles. Running it again
-- changes nothing; do so after each migration.
-- owner     owns everything, logs in nowhere; migrations run as a role that may become it
-- writer    the application: publishes and enqueues; keeps and reads idempotency keys, external calls, schedules, limits of jobs, locks
--           and leases; reads no message, and of jobs and their batches no more than the ids
-- relay     stamps, reads and settles; claims and ends jobs; keeps partitions ahead through a function that has the owner's rights
-- reader    looks at everything, changes nothing
-- operator  a reader who may also change subscriptions, lanes and deliveries, and redrive or discard dead letters; every act is audited
-- consumer  reads messages by position, stores its offset, accepts messages in the inbox; a login of it has tables of its own

do $roles$
declare
    role text;
begin
    foreach role in array array['/*owner*/', '/*writer*/', '/*relay*/', '/*reader*/', '/*operator*/', '/*consumer*/'] loop
        if not exists (select 1 from pg_roles where rolname = role) then
            execute format('create role %I nologin', role);
        end if;
    end loop;
    -- Whoever migrates must be able to become the owner.
    if not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant %I to %I', '/*owner*/', current_user);
    end if;
end
$roles$;

-- PostgreSQL lets nobody give an object to a role that may not create in its schema.
grant usage, create on schema /*schema.quoted*/ to "/*owner*/";
alter schema /*schema.quoted*/ owner to "/*owner*/";
do $owner$
declare
    object record;
begin
    for object in
        select format('alter table %I.%I owner to %I', n.nspname, c.relname, '/*owner*/') as command
        from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = '/*name*/' and c.relkind in ('r', 'p', 'v')
        union all
        select format('alter function %s owner to %I', p.oid::regprocedure, '/*owner*/')
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = '/*name*/'
    loop
        execute object.command;
    end loop;
end
$owner$;

revoke all on schema /*schema.quoted*/ from public;
revoke all on all tables in schema /*schema.quoted*/ from public;
revoke all on all functions in schema /*schema.quoted*/ from public;
revoke all on all sequences in schema /*schema.quoted*/ from public;
grant usage on schema /*schema.quoted*/ to "/*writer*/", "/*relay*/", "/*reader*/", "/*operator*/", "/*consumer*/";

-- No grants on partitions: they are reached through their parents only.
grant insert (id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version, payload, headers,
              occurred_at, available_at)
    on /*schema*/outbox to "/*writer*/";
grant execute on function /*schema*/publish(text, text, text, json, text, bigint, integer, json, timestamptz, timestamptz, uuid)
    to "/*writer*/";
grant execute on function /*schema*/time_ordered_id() to "/*writer*/";
grant execute on function /*schema*/json_repeats_key(json), /*schema*/content_problem(json, json) to "/*writer*/";
grant select, insert, update, delete on /*schema*/idempotency_key to "/*writer*/";
grant insert (kind, queue, priority, tenant_id, payload, headers, run_at, waits, retry, attempts_max, deadline, limit_name, limit_key,
              batch), select (id)
    on /*schema*/job to "/*writer*/";
grant execute on function /*schema*/enqueue(text, json, text, integer, timestamptz, interval, text, json, text, interval, text, text, interval,
                                            text, text, bigint, bigint[], bigint[], boolean),
    /*schema*/retry_policy(text) to "/*writer*/";
grant execute on function /*schema*/enqueue_bound(text, text, integer, text, json, json, timestamptz, interval, text, integer, interval, text,
                                                  text, interval, text, text, bigint, bigint[], bigint[], boolean)
    to "/*writer*/", "/*relay*/", "/*operator*/";
grant select, insert, update on /*schema*/job_limit to "/*writer*/";
grant insert (name), select (id) on /*schema*/job_batch to "/*writer*/";
grant select, insert, update on /*schema*/schedule to "/*writer*/";

grant select on /*schema*/outbox, /*schema*/journal, /*schema*/tick, /*schema*/subscription, /*schema*/lane, /*schema*/relay, /*schema*/settlement,
    /*schema*/migration, /*schema*/cluster, /*schema*/daily_table, /*schema*/delivery, /*schema*/attempt, /*schema*/circuit,
    /*schema*/dead_letter, /*schema*/redrive, /*schema*/inbox, /*schema*/inbox_consumer, /*schema*/consumer_offset, /*schema*/message,
    /*schema*/redriven_letter, /*schema*/subscription_move, /*schema*/source_offset, /*schema*/job, /*schema*/job_done, /*schema*/job_attempt, /*schema*/job_queue,
    /*schema*/job_limit, /*schema*/job_rate, /*schema*/job_batch, /*schema*/job_need, /*schema*/worker,
    /*schema*/schedule, /*schema*/schedule_run, /*schema*/outbox_archive, /*schema*/journal_archive, /*schema*/archive_day,
    /*schema*/archived_message
    to "/*relay*/", "/*reader*/", "/*operator*/";

grant execute on function /*schema*/stamp(integer, text), /*schema*/restamp(), /*schema*/keep_partitions(integer),
    /*schema*/thin_ticks(timestamptz, timestamptz), /*schema*/forget_inbox_day(interval, date), /*schema*/purge_inbox(interval, integer)
    to "/*relay*/";
grant execute on function /*schema*/purge_keys(integer), /*schema*/lapsed_keys(interval, integer),
    /*schema*/forget_job_day(text, interval, date) to "/*relay*/";
grant insert, update on /*schema*/subscription to "/*relay*/";
grant insert, update, delete on /*schema*/lane, /*schema*/relay, /*schema*/delivery, /*schema*/circuit to "/*relay*/";
grant insert, delete on /*schema*/settlement to "/*relay*/";
grant insert on /*schema*/attempt, /*schema*/audit to "/*relay*/";
grant insert, update on /*schema*/dead_letter to "/*relay*/";
grant update on /*schema*/redrive to "/*relay*/";
grant insert, update, delete on /*schema*/redriven_letter to "/*relay*/";
grant insert, update on /*schema*/source_offset to "/*relay*/";
grant insert, update, delete on /*schema*/job, /*schema*/worker to "/*relay*/";
grant insert on /*schema*/job_done, /*schema*/job_attempt to "/*relay*/";
grant insert, update, delete on /*schema*/job_rate to "/*relay*/";
grant delete on /*schema*/job_need, /*schema*/job_batch to "/*relay*/";
grant update on /*schema*/schedule to "/*relay*/";
grant insert, update, delete on /*schema*/schedule_run to "/*relay*/";

grant insert, update, delete on /*schema*/subscription to "/*operator*/";
grant insert, update, delete on /*schema*/lane, /*schema*/delivery to "/*operator*/";
grant delete on /*schema*/settlement to "/*operator*/";
grant insert, update on /*schema*/dead_letter to "/*operator*/";
grant insert, update on /*schema*/redrive to "/*operator*/";
grant insert on /*schema*/redriven_letter to "/*operator*/";
grant insert, update on /*schema*/subscription_move to "/*operator*/";
grant insert, delete on /*schema*/source_offset to "/*operator*/";
grant insert on /*schema*/audit to "/*operator*/";
grant select, insert, update, delete on /*schema*/act to "/*operator*/";
grant insert, update, delete on /*schema*/job to "/*operator*/";
grant insert, update on /*schema*/job_queue, /*schema*/job_limit to "/*operator*/";
grant insert, update, delete on /*schema*/schedule to "/*operator*/";
grant insert, update on /*schema*/schedule_run to "/*operator*/";
grant insert on /*schema*/job_done, /*schema*/job_attempt to "/*operator*/";
-- Neither answers, their headers included, nor what steps left for later.
grant select (tenant_id, scope, key, request_hash, state, status_code, created_at, completed_at, expires_at,
              leased_until, fence, recovery_point, step)
    on /*schema*/idempotency_key to "/*reader*/", "/*operator*/";
grant update (fence, leased_until), delete on /*schema*/idempotency_key to "/*operator*/";
grant select on /*schema*/audit to "/*reader*/", "/*operator*/";
grant execute on function /*schema*/keep_partitions(integer) to "/*operator*/";
-- Who calls others, and who says what became of a call that nobody knows the end of: both are audited.
grant select, insert, update on /*schema*/external_call to "/*writer*/", "/*relay*/";
grant select on /*schema*/external_call to "/*reader*/";
grant select, update on /*schema*/external_call to "/*operator*/";
grant insert on /*schema*/audit to "/*writer*/";
grant execute on function /*schema*/attempt_history(text, bigint), /*schema*/job_history(bigint) to "/*relay*/", "/*operator*/";
-- How far they are from their end; the next number only the owner can draw.
grant select on all sequences in schema /*schema.quoted*/ to "/*reader*/", "/*operator*/";
grant execute on function /*schema*/has_strays(), /*schema*/kept_after() to "/*relay*/", "/*reader*/", "/*operator*/";

-- Read models. A relay that serves them makes schemas, which its login owns; whoever swaps or retires generations must be a member of
-- that login. Left to you, because it is a right in the whole database:
--   grant create on database … to "/*relay*/";
grant select on /*schema*/read_model, /*schema*/generation, /*schema*/materialized_view to "/*relay*/", "/*reader*/", "/*operator*/";
grant insert, update on /*schema*/read_model, /*schema*/generation, /*schema*/materialized_view to "/*relay*/", "/*operator*/";
grant delete on /*schema*/generation, /*schema*/materialized_view to "/*operator*/";
grant execute on function /*schema*/unstamped(integer) to "/*relay*/", "/*reader*/", "/*operator*/";
grant execute on function /*schema*/freshness(text) to "/*writer*/", "/*relay*/", "/*reader*/", "/*operator*/", "/*consumer*/";
grant execute on function /*schema*/make_schema(text), /*schema*/let_read(text, text[]), /*schema*/refresh_view(regclass, boolean)
    to "/*relay*/";
grant execute on function /*schema*/swap_schemas(text, text, text), /*schema*/drop_schema(text),
    /*schema*/compare_tables(text, text, text, text[], integer), /*schema*/refresh_view(regclass, boolean)
    to "/*operator*/";

-- Locks and leases: for whoever does work of its own.
grant execute on function /*schema*/lock_key(text), /*schema*/check_lock(text), /*schema*/try_hold(text), /*schema*/hold(text, integer)
    to "/*writer*/", "/*relay*/", "/*consumer*/";
grant select, insert, update on /*schema*/lock_name, /*schema*/lease to "/*writer*/", "/*relay*/", "/*consumer*/";
grant select on /*schema*/lock_name, /*schema*/lease to "/*reader*/", "/*operator*/";
grant execute on function /*schema*/lock_key(text) to "/*reader*/", "/*operator*/";
grant execute on function /*schema*/purge_locks(integer) to "/*relay*/";

-- Archiving and dropping have the owner's rights, and refuse what somebody needs.
grant execute on function /*schema*/archive_step(interval), /*schema*/drop_archived_day(date)
    to "/*relay*/", "/*operator*/";
grant execute on function /*schema*/keep_archive(), /*schema*/message_at(bigint, date), /*schema*/hot_days(), /*schema*/passed_at(date), /*schema*/day_needs(date, bigint, boolean, integer)
    to "/*relay*/", "/*reader*/", "/*operator*/";

grant select on /*schema*/message, /*schema*/archived_message, /*schema*/inbox, /*schema*/inbox_consumer, /*schema*/consumer_offset
    to "/*consumer*/";
grant insert, update on /*schema*/inbox_consumer, /*schema*/consumer_offset to "/*consumer*/";
-- A relay does the same for projections behind an inbox.
grant insert, update on /*schema*/inbox_consumer to "/*relay*/";
grant execute on function /*schema*/accept(text, uuid[], bytea[]) to "/*consumer*/", "/*relay*/";
grant execute on function /*schema*/declare_inbox(text, interval, interval) to "/*consumer*/", "/*relay*/";
grant execute on function /*schema*/read(bigint, integer), /*schema*/last_position() to "/*reader*/", "/*operator*/", "/*consumer*/";
