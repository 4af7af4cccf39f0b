-- The whole transaction sees one snapshot, that of its next statement.
set transaction isolation level repeatable read, read only
