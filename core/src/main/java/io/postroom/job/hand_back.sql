-- Put jobs whose rows are locked back among the ready ones as if they had not been claimed: not counted, and with their turns. A key that
-- was unique while they were ready stays free: another may have it by now.
--   :ids bigint[]
-- A new fence: whoever had them changes nothing any more. Whoever looks beyond what it has claimed does not find them, but with its next
-- look from the beginning. Index: the primary key.
update /*schema*/job as j
set state = 'ready', worker = null, claimed_at = null, deadline_at = null, begun_at = null, exact = false, attempt = j.attempt - 1,
    fence = j.fence + 1
where j.id = any (:ids::bigint[])
