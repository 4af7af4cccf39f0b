-- One picture for all that follows in this transaction: a message that moves meanwhile is not seen half here, half there.
set transaction isolation level repeatable read, read only
