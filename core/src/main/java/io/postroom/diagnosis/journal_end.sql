-- The end of the journal, how many relays are alive, and which was heard of last.
select t.position, t.day, t.at,
       (select count(*) from /*schema*/relay where leased_until > clock_timestamp()) as relays,
       last.name as last_relay, last.leased_until as last_relay_until
from (select position, day, at from /*schema*/tick order by position desc limit 1) as t
left join lateral (select name, leased_until from /*schema*/relay order by leased_until desc limit 1) as last on true
