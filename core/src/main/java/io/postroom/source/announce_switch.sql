-- Let sources begin no transaction for a while: a move is about to switch.
--   :id bigint   :seconds double precision
update /*schema*/subscription_move
set switching_until = clock_timestamp() + make_interval(secs => :seconds)
where id = :id and ended_at is null
