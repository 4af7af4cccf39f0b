-- Wait until a swap whose commit can be seen has told every session about the new names, too: PostgreSQL does that a moment later, and
-- gives locks back only then.
--   :read_model text
select pg_advisory_xact_lock_shared(hashtextextended('/*schema*/swap ' || :read_model, 0))
