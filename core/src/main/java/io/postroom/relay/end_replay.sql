-- What was to be replayed has been: the lane goes on where it was before. For a lane that is locked.
--   :subscription text   :lane int
update /*schema*/lane
set position = resume_at, replay_to = null, resume_at = null
where subscription = :subscription and lane = :lane and replay_to is not null
