-- How often a message failed, and how the last time. Index: attempt_message.
--   :subscription text   :position bigint   :limit int, how many are counted
select count(*) as failed, max(at) as last_at, (array_agg(node order by at desc))[1] as node,
       (array_agg(error_class order by at desc))[1] as error_class, (array_agg(error order by at desc))[1] as error
from (
    select at, node, error_class, error
    from /*schema*/attempt
    where subscription = :subscription and position = :position
    order by at desc
    limit :limit
) as last
