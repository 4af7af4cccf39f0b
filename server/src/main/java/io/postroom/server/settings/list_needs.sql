-- What the role of this connection lacks for each thing that the console does; empty where it lacks nothing.
--   :schema text
-- Only the catalogs are read.
select needed.word,
       coalesce(array_agg(needed.privilege || ' on ' || needed.relation order by needed.relation, needed.privilege)
                    filter (where not has_table_privilege(quote_ident(:schema) || '.' || needed.relation, needed.privilege)),
                '{}') as lacks
from (values
    ('look', 'outbox', 'select'), ('look', 'journal', 'select'), ('look', 'subscription', 'select'), ('look', 'lane', 'select'),
    ('look', 'delivery', 'select'), ('look', 'dead_letter', 'select'), ('look', 'attempt', 'select'), ('look', 'job', 'select'),
    ('look', 'audit', 'select'),
    ('pause', 'subscription', 'update'), ('pause', 'job_queue', 'update'), ('pause', 'schedule', 'update'),
    ('pause', 'audit', 'insert'), ('pause', 'act', 'insert'),
    ('redrive', 'redrive', 'insert'), ('redrive', 'dead_letter', 'update'), ('redrive', 'delivery', 'insert'),
    ('redrive', 'audit', 'insert'),
    ('discard', 'redrive', 'insert'), ('discard', 'dead_letter', 'update'), ('discard', 'audit', 'insert'),
    ('run', 'job', 'update'), ('run', 'schedule', 'update'), ('run', 'audit', 'insert'), ('run', 'act', 'insert'),
    ('reveal', 'audit', 'insert')
) as needed (word, relation, privilege)
group by needed.word
