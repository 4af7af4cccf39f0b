-- Dead letters of sources that cannot be redriven, and why.
--   :ids bigint[]   :unreadable text, the error class of what is no message
select id, 'what was received is no message; read it with postroom deadletter show and discard it' as reason
from /*schema*/dead_letter
where id = any (:ids) and error_class = :unreadable
