-- Drop deliveries of a subscription whose messages a source has given up since they were put down: operators have those. For lanes that
-- are locked.
--   :name text
-- Index: dead_letter_position.
delete from /*schema*/delivery as v
where v.subscription = :name
  and exists (
      select
      from /*schema*/dead_letter as d
      where d.source in ('subscription', 'kafka') and d.owner = v.subscription and d.position = v.position
        and (d.resolution is null or d.resolution = 'discarded' or d.patched is not null)
  )
