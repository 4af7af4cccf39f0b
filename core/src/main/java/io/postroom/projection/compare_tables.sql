-- How the tables of one name differ between two schemas, in the snapshot of the transaction.
--   :live text   :candidate text   :table_name text   :ignored text[]   :examples_max int
select live_rows, candidate_rows, only_live, only_candidate, different, examples, lone_columns
from /*schema*/compare_tables(:live, :candidate, :table_name, :ignored, :examples_max)
