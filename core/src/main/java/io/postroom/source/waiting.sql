-- What a move waits for. To a broker: lanes before the cut; deliveries before it that the feed will not bring, and redriven ones, which
-- it will not bring as the operator wants them. From a broker: redriven dead letters that its source has not applied.
--   :name text   :feed text   :position bigint, the cut   :target text
-- What the feed has not sent yet comes after the offsets that were noted, though it has an earlier position: a message for later.
select (select count(*) from /*schema*/lane as l where :target::text = 'kafka' and l.subscription = :name and l.position < :position) as lanes,
       (
           select count(*)
           from /*schema*/delivery as v
           where :target::text = 'kafka' and v.subscription = :name
             and (v.dead_letter is not null
                  or v.position <= :position
                     and not exists (
                         select
                         from /*schema*/delivery as f
                         where f.subscription = :feed and f.position = v.position and f.state in ('scheduled', 'waiting', 'parked')
                     ))
       ) as deliveries,
       (select count(*) from /*schema*/redriven_letter as r where :target::text = 'postgres' and r.consumer = :name) as redriven
