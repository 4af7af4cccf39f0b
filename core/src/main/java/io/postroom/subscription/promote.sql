-- Release the first parked messages of a key in which nothing earlier has to wait any more. For a lane that is locked.
--   :name text   :key_hash int   :run int, how many at most
-- One that a relay may have died of goes alone. One due time for the whole run: they are claimed in the order of due time and
-- position. Index: delivery_key.
with run as materialized (
    select first.position,
           bool_and(first.state = 'parked' and (first.turn = 1 or first.crashes + first.head_crashes = 0)) over (order by first.position) as free
    from (
        select d.position, d.state, d.crashes, row_number() over (order by d.position) as turn,
               first_value(d.crashes) over (order by d.position) as head_crashes
        from /*schema*/delivery as d
        where d.subscription = :name and d.key_hash = :key_hash and d.state <> 'scheduled'
        order by d.position
        limit :run
    ) as first
)
update /*schema*/delivery as d
set state = 'waiting', due_at = statement_timestamp()
where d.subscription = :name and d.position = any (array(select position from run where free))
