-- The hash of a key as the journal has it; as key_hash() makes it, which not everybody who looks may call.
--   :tenant text?   :aggregate_type text   :aggregate_id text
select (hashtextextended(:aggregate_id::text, hashtextextended(:aggregate_type::text, hashtextextended(coalesce(:tenant::text, ''), 0)))
        & 2147483647)::integer as key_hash
