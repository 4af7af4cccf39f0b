-- Settings as this session has them, sizes in bytes too, and who set them.
--   :names text[]
-- Views of the server only.
select name, setting, source, pending_restart,
       case unit when 'B' then setting::bigint
                 when 'kB' then setting::bigint * 1024
                 when '8kB' then setting::bigint * 8192
                 when 'MB' then setting::bigint * 1048576
       end as bytes
from pg_settings
where name = any(:names)
