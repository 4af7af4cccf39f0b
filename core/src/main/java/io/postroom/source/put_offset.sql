-- Let a consumer go on in a partition from an offset, wherever it was.
--   :consumer text   :partition text   :topic_id uuid?   :began bigint   :next bigint   :epoch bigint?
insert into /*schema*/source_offset as o (consumer, partition, topic_id, began_offset, next_offset, leader_epoch)
values (:consumer, :partition, :topic_id, :began, :next, :epoch)
on conflict (consumer, partition) do update
    set topic_id = excluded.topic_id, began_offset = excluded.began_offset, next_offset = excluded.next_offset,
        leader_epoch = excluded.leader_epoch, attempts = case when o.next_offset = excluded.next_offset then o.attempts else 0 end,
        updated_at = clock_timestamp()
