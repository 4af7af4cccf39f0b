-- Lock a subscription that is about to go: whoever adds to it waits, and finds it gone.
--   :name text
select s.name, s.lanes, s.lanes_wanted, s.ordering, s.paused_at, s.paused_by, s.pause_reason, s.copy_of, s.former_positions,
       s.receiver, s.served_by,
       (select m.target from /*schema*/subscription_move as m where m.subscription = s.name and m.ended_at is null) as moving_to,
       (select g.read_model from /*schema*/generation as g where g.subscription = s.name) as read_model,
       set_config('idle_in_transaction_session_timeout', '5000', true)
from /*schema*/subscription as s
where s.name = :name
for update of s
