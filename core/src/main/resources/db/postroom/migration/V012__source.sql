-- Consumers behind a broker: who serves a subscription, moves between PostgreSQL and a broker, and what a source has given up on.

alter table /*schema*/subscription
    -- Who brings its messages: relays from the journal, or a source from Kafka.
    add column served_by text not null default 'postgres',
    -- Whose inbox its projection is behind, if it is behind one.
    add column consumer text,
    -- Since when relays say so. One that was started before may serve it otherwise.
    add column consumer_at timestamptz,
    -- Of what lies up to here that inbox may not know what took effect, or it was left out on purpose.
    add column inbox_after bigint not null default 0,
    add constraint subscription_served_by check (served_by in ('postgres', 'kafka'));

alter table /*schema*/dead_letter
    -- Where it came from, if not from the journal: topic, partition and offset. Its position is then that of the journal only where a
    -- subscription of this name is served; else it is a number beyond all positions that is made from the message's id.
    add column place text,
    -- The first dead letter that its message was, if this is another. A source gives up on the messages of a key in their order, and each
    -- keeps the place that it had when it was given up first.
    add column first_burial bigint,
    -- Where it stands among those of its key.
    add column turn bigint not null generated always as (
        case when position < 4611686018427387904 then position else 4611686018427387904 + coalesce(first_burial, id) end
    ) stored,
    drop constraint dead_letter_source,
    add constraint dead_letter_source check (source in ('subscription', 'kafka'));
create index dead_letter_turn on /*schema*/dead_letter (owner, key_hash, turn) where resolution is null and source = 'kafka';
-- What became of one that was redriven: it may be another message by then, under another key.
create index dead_letter_origin on /*schema*/dead_letter (origin) where origin is not null;

alter table /*schema*/inbox_consumer
    -- When a source of its began to receive.
    add column receives_since timestamptz;

-- Dead letters of a source that were redriven, until they have taken effect or are buried again.
create table /*schema*/redriven_letter (
    dead_letter bigint      not null primary key references /*schema*/dead_letter (id),
    consumer    text        not null,
    key_hash    integer     not null,
    -- That of the dead letter.
    turn        bigint      not null,
    due_at      timestamptz not null default clock_timestamp(),
    attempts    integer     not null default 0
);
create index redriven_letter_due on /*schema*/redriven_letter (consumer, due_at, dead_letter);
-- Those of one key are applied in their order.
create index redriven_letter_key on /*schema*/redriven_letter (consumer, key_hash, turn, dead_letter);

-- A move of a subscription to a broker or back: where the cut is. The cut is found first and does not change; whoever goes on with the
-- move goes on from here.
create table /*schema*/subscription_move (
    id           bigint      not null generated always as identity primary key,
    subscription text        not null references /*schema*/subscription (name) on delete cascade,
    target       text        not null,
    -- The subscription that carries messages to the broker.
    feed         text        not null,
    topics       text[]      not null,
    group_id     text        not null,
    -- To Kafka: the end of the journal, after the offsets were read. To PostgreSQL: where lanes begin, read before the offsets were.
    position     bigint      not null,
    -- To Kafka: where the group begins. To PostgreSQL: what the group must have applied. By topic/partition.
    offsets      jsonb       not null,
    -- What both sides may bring has taken effect after this: so far back inboxes must remember when it is switched.
    overlap_since timestamptz not null,
    actor        text        not null,
    reason       text        not null,
    noted_at     timestamptz not null default clock_timestamp(),
    -- Until then sources begin no transaction: whoever switches waits for those that are open, and must not wait for ever.
    switching_until timestamptz,
    ended_at     timestamptz,
    outcome      text,
    constraint subscription_move_target check (target in ('postgres', 'kafka')),
    constraint subscription_move_outcome check (outcome in ('done', 'cancelled') and (outcome is null) = (ended_at is null))
);
create unique index subscription_move_open on /*schema*/subscription_move (subscription) where ended_at is null;

-- How far a consumer is in each partition of its topics, changed in the transactions of the effects: it goes back with them when the database
-- does, and what the broker was told does not.
create table /*schema*/source_offset (
    consumer     text        not null,
    -- As topic/partition.
    partition    text        not null,
    -- Which topic of that name; null: nobody has looked yet.
    topic_id     uuid,
    -- What lies before was never this consumer's to apply.
    began_offset bigint      not null,
    -- Everything before this offset, and from where it began, has taken effect or is a dead letter.
    next_offset  bigint      not null,
    -- The broker's count of leaders when it wrote the record before: it tells whether what followed was lost and written anew.
    leader_epoch bigint,
    -- How often the message that comes next has failed, for whoever has the partition then.
    attempts     integer     not null default 0,
    -- Somebody has the partition, or had it and did not leave it in peace.
    held         boolean     not null default false,
    updated_at   timestamptz not null default clock_timestamp(),
    primary key (consumer, partition),
    constraint source_offset_consumer check (consumer ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint source_offset_partition check (length(partition) <= 300),
    constraint source_offset_order check (began_offset >= 0 and next_offset >= began_offset),
    constraint source_offset_attempts check (attempts >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

insert into /*schema*/migration (version, name) values (12, 'source');
