-- Pause a subscription whose destination wants no more, and note that for the audit, in one statement.
--   :subscription text   :actor text   :reason text   :error_class text
-- Locks: the row, but never waits for it: the heartbeat must go on, and tries again. Answers whether it had the row, and whether it paused.
with found as materialized (
    select name, paused_at
    from /*schema*/subscription
    where name = :subscription
    for update skip locked
), paused as (
    update /*schema*/subscription as s
    set paused_at = clock_timestamp(), paused_by = left(:actor, 200), pause_reason = left(:reason, 1000)
    from found
    where s.name = found.name and found.paused_at is null
    returning s.name
), noted as (
    insert into /*schema*/audit (actor, action, subject, reason, details)
    select left(:actor, 200), 'subscription pause', 'subscription ' || name, left(:reason, 1000),
           jsonb_build_object('errorClass', :error_class::text)
    from paused
)
select exists (select from found), exists (select from paused)
