-- Note the offsets of a move whose position was noted before. The first ones count: later ones would only be waited for longer.
--   :id bigint   :offsets text, JSON
update /*schema*/subscription_move
set offsets = :offsets::jsonb
where id = :id and ended_at is null and offsets = '{}'
