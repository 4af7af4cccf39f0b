-- Fence out the relay that had a lane. For a lane that is locked and that no live relay has.
--   :name text   :lane int
-- A lease that has run out is no lost lane: a relay that stood still renews it and writes what it had in hand. Its name stays: whoever takes
-- the lane must know that it may have died of a message in it.
update /*schema*/lane
set fence = fence + 1
where subscription = :name and lane = :lane
