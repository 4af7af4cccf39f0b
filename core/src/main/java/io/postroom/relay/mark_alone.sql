-- Note that nothing else is on its way while a delivery is sent: if its relay ends now, it ended of this one. For a lane that is locked.
--   :subscription text   :position bigint
update /*schema*/delivery
set alone = true
where subscription = :subscription and position = :position and state = 'sending'
