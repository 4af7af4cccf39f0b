-- Which of some keys still have messages that must go before later ones. Index: delivery_key.
--   :subscription text   :keys int[]
select key_hash
from unnest(:keys::integer[]) as key_hash
cross join lateral (
    select
    from /*schema*/delivery as d
    where d.subscription = :subscription and d.key_hash = key_hash.key_hash and d.state <> 'scheduled'
    limit 1
) as any_of_it
