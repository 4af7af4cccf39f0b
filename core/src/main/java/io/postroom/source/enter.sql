-- Begin a transaction in which a source applies messages; says how the subscription of its name stands, null if there is none, and
-- whether it is being switched just now. That is asked without a lock: who shares a lock keeps joining others who share it, and somebody
-- who wants it alone would wait for ever.
--   :consumer text   :deadline text, milliseconds
-- Locks: the subscription's row, shared, so that it is not moved until the transaction ends; operators and relays change what else there
-- is in it meanwhile. Whatever the projection waits for ends with the deadline, also when its process freezes: PostgreSQL ends the
-- statement, or the session. A stricter limit of the role's own stays.
select s.served_by, s.paused_at is not null as paused, s.aggregate_types, s.event_types, s.tenants, m.switching,
       set_config('statement_timeout',
                  ceil(extract(epoch from least(nullif(current_setting('statement_timeout'), '0')::interval,
                                                (:deadline::text || ' ms')::interval)) * 1000)::bigint::text,
                  true),
       set_config('idle_in_transaction_session_timeout', :deadline, true)
from (
    select exists (
        select from /*schema*/subscription_move
        where subscription = :consumer and ended_at is null and switching_until > clock_timestamp()
    ) as switching
) as m
left join lateral (
    select n.served_by, n.paused_at, n.aggregate_types, n.event_types, n.tenants
    from /*schema*/subscription as n
    where n.name = :consumer and not m.switching
    for key share
) as s on true
