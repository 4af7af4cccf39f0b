-- Ids of open dead letters of one group, newest first.
--   :owner text   :fingerprint text   :event_type text   :sources text[]?   :before bigint, exclusive   :limit int
-- Index: dead_letter_group, backwards: however many others there are. Bounds and order are those of the
-- index, whole: with equal columns the planner would walk through all letters by their ids.
select array(
    select d.id
    from /*schema*/dead_letter as d
    where d.resolution is null
      and (d.owner, d.fingerprint, d.event_type, d.id) >= (:owner, :fingerprint, :event_type, 0)
      and (d.owner, d.fingerprint, d.event_type, d.id) < (:owner, :fingerprint, :event_type, :before)
      and (:sources::text[] is null or d.source = any (:sources::text[]))
    order by d.owner desc, d.fingerprint desc, d.event_type desc, d.id desc
    limit :limit
) as found
