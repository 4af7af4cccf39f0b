-- Take note of a replay: how fast, and what its subscription is sent that was there before it began. For one that is locked.
--   :name text   :rate text?, a number, messages per second; null: as fast as it goes   :after bigint   :up_to bigint
update /*schema*/subscription
set replay_rate = :rate::text::double precision,
    began_after = case when :up_to::bigint >= began_after then least(began_after, :after::bigint) else began_after end
where name = :name
