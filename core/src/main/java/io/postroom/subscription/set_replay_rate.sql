-- How fast a subscription is to replay. For one that is locked.
--   :name text   :rate text?, a number, messages per second; null: as fast as it goes
update /*schema*/subscription
set replay_rate = :rate::text::double precision
where name = :name
