-- Put jobs whose rows are locked back among the ready ones, now or for later.
--   :ids bigint[], in ascending order   :waits bigint[], microseconds   :refunds int[], attempts that are not counted after all
--   :crashes int[], workers that died of it, or of a neighbour
-- A new fence: whoever had them changes nothing any more. A new turn: whoever looks beyond what it has claimed finds them. Values are
-- found in the arrays by halving, without a join. One that goes on at once keeps its seat, unless its limit has a rate: then it is let
-- through anew, and uses the rate once more. Index: the primary key.
update /*schema*/job as j
set state = 'ready', worker = null, claimed_at = null, deadline_at = null, begun_at = null, exact = false, turn = default,
    waits = case
                when (:waits::bigint[])[width_bucket(j.id, :ids::bigint[])] > 0 then 'time'
                when j.limit_name is not null
                     and exists (select from /*schema*/job_limit as l where l.name = j.limit_name and l.rate is not null) then 'turn'
            end,
    run_at = clock_timestamp() + (:waits::bigint[])[width_bucket(j.id, :ids::bigint[])] * interval '1 microsecond',
    attempt = j.attempt - (:refunds::integer[])[width_bucket(j.id, :ids::bigint[])],
    crashes = j.crashes + (:crashes::integer[])[width_bucket(j.id, :ids::bigint[])], fence = j.fence + 1
where j.id = any (:ids::bigint[])
