-- Ask for another generation of a read model that is locked; relays make it.
--   :name text   :version int   :began_after bigint   :asked_by text, operator or relay
with numbered as (
    update /*schema*/read_model set last_generation = last_generation + 1 where name = :name returning name, last_generation
)
insert into /*schema*/generation (read_model, number, version, state, began_after, asked_by)
select name, last_generation, :version, 'asked', :began_after, :asked_by
from numbered
returning number
