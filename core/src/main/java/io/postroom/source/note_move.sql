-- Note where the cut of a move is. For a subscription that is locked and has no move under way.
--   :name text   :target text   :feed text   :topics text[]   :group_id text   :position bigint   :offsets text, JSON
--   :overlap double precision, seconds back from now   :actor text   :reason text
insert into /*schema*/subscription_move (subscription, target, feed, topics, group_id, position, offsets, overlap_since, actor, reason)
values (:name, :target, :feed, :topics, :group_id, :position, :offsets::jsonb, clock_timestamp() - make_interval(secs => :overlap),
        :actor, :reason)
