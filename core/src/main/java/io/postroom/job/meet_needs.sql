-- Strike off what has ended as it should, and answers with the jobs that have waited for it; also with those that are to be cancelled,
-- because what they need was.
--   :of_batch text, a boolean   :needs bigint[]   :ended text[], of these
-- For whoever has the lock of lock_needs.sql. Index: the primary key.
delete from /*schema*/job_need as n
using unnest(:needs::bigint[], :ended::text[]) as e (need, ended)
where n.of_batch = :of_batch::boolean and n.need = e.need and (n.any_end or e.ended in ('done', 'cancelled'))
returning n.job_id, not n.any_end and e.ended = 'cancelled' as cancelled
