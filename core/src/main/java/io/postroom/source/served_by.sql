-- Who serves the subscription of a consumer's name, and if it is a broker, with which group and topics; no row if there is none.
--   :consumer text
-- Index: the primary key; the moves of one subscription are few.
select s.served_by, m.group_id, m.topics
from /*schema*/subscription as s
left join lateral (
    select d.group_id, d.topics
    from /*schema*/subscription_move as d
    where d.subscription = s.name and d.target = s.served_by and d.outcome = 'done'
    order by d.id desc
    limit 1
) as m on s.served_by <> 'postgres'
where s.name = :consumer
