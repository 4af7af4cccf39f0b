-- How many dead letters all redrives and discards together have resolved, by action.
-- Reads the whole table, which has a row for each act of an operator.
select action, sum(done)::bigint as letters
from /*schema*/redrive
group by action
