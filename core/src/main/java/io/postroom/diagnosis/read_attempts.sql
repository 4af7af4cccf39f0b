-- How often a message failed, how the last time, and when it was accepted in the end. Index: attempt_message.
--   :subscription text   :position bigint   :limit int, how many are counted
select count(*) filter (where outcome <> 'accepted') as failed, max(at) filter (where outcome <> 'accepted') as last_at,
       (array_agg(node order by at desc) filter (where outcome <> 'accepted'))[1] as node,
       (array_agg(error_class order by at desc) filter (where outcome <> 'accepted'))[1] as error_class,
       (array_agg(error order by at desc) filter (where outcome <> 'accepted'))[1] as error,
       max(at) filter (where outcome = 'accepted') as accepted_at,
       (array_agg(node order by at desc) filter (where outcome = 'accepted'))[1] as accepted_by
from (
    select at, node, outcome, error_class, error
    from /*schema*/attempt
    where subscription = :subscription and position = :position
    order by at desc
    limit :limit
) as last
