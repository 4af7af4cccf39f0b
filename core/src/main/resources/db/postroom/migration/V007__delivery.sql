-- Messages that did not go through at once: retried, parked behind another of their key, scheduled. A message that is accepted at
-- its first attempt has no row here.

alter table /*schema*/subscription
    -- What becomes of a key whose message was buried: it goes on, or is held until an operator decides.
    add column on_burial        text not null default 'continue',
    -- What was there when it began is not sent to it, but by a replay.
    add column began_after      bigint not null default 0,
    -- What relays say they do, for whoever looks.
    add column retry            text not null default 'quick',
    add column paused_at        timestamptz,
    add column paused_by        text,
    add column pause_reason     text,
    -- A number of lanes that is asked for; relays give their lanes back, and one of them makes the change.
    add column lanes_wanted     integer,
    -- Until then relays give their lanes back: an operator is about to move them. Ends by itself if the operator goes away.
    add column drain_until      timestamptz,
    -- Where the lanes were before their number changed: what a former lane had delivered is not delivered again.
    add column former_positions bigint[],
    -- A copy is served by whoever serves the original, and ends by itself.
    add column copy_of          text references /*schema*/subscription (name),
    -- Messages per second while it replays; null: as fast as it goes.
    add column replay_rate      double precision,
    add constraint subscription_on_burial check (on_burial in ('continue', 'hold')),
    add constraint subscription_held_needs_order check (on_burial = 'continue' or ordering = 'key'),
    add constraint subscription_paused check ((paused_at is null) = (paused_by is null) and (paused_at is null) = (pause_reason is null)),
    add constraint subscription_lanes_wanted check (lanes_wanted between 1 and 256),
    add constraint subscription_replay_rate check (replay_rate > 0);

alter table /*schema*/lane
    -- Counts what was written here beside the position, so that a commit whose answer was lost is not done again.
    add column recorded  bigint not null default 0,
    -- While the position is below this, messages are replayed; then the lane goes on where it was before.
    add column replay_to bigint,
    add column resume_at bigint,
    add constraint lane_replay check ((replay_to is null) = (resume_at is null) and replay_to <= resume_at);

create table /*schema*/delivery (
    subscription  text        not null references /*schema*/subscription (name) on delete cascade,
    position      bigint      not null,
    lane          integer     not null,
    key_hash      integer     not null,
    -- Where the message is: its outbox row, or the dead letter it was redriven from.
    seq           bigint      not null,
    outbox_day    date        not null,
    bytes         integer     not null,
    dead_letter   bigint      references /*schema*/dead_letter (id),
    -- It was read by a replay that ends there: whenever it is sent, its receiver is told so.
    replay_to     bigint,
    -- scheduled   not before due_at; holds up nobody
    -- waiting     to be sent at due_at; the later ones of its key wait behind it
    -- parked      behind an earlier one of its key
    -- sending     an attempt has begun
    -- held        buried; its dead letter holds the key until an operator decides
    -- unreadable  no relay so far can read this version; tried again by each that takes the lane
    state         text        not null,
    due_at        timestamptz,
    -- Counted when an attempt begins.
    attempts      integer     not null default 0,
    -- How many attempts ended with the relay. Such messages are sent a few at a time, in the end each alone.
    crashes       integer     not null default 0,
    -- Whether nothing else was on its way during the last attempt.
    alone         boolean     not null default false,
    sending_since timestamptz,
    sending_by    text,
    error_class   text,
    error         text,
    fingerprint   text,
    -- Since when it waits: one that was scheduled, since it was due.
    created_at    timestamptz not null default clock_timestamp(),
    primary key (subscription, position),
    constraint delivery_state check (state in ('scheduled', 'waiting', 'parked', 'sending', 'held', 'unreadable')),
    constraint delivery_due check ((due_at is not null) = (state in ('scheduled', 'waiting'))),
    constraint delivery_sending check ((state = 'sending') = (sending_since is not null and sending_by is not null)),
    constraint delivery_held check (state <> 'held' or dead_letter is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index delivery_due on /*schema*/delivery (subscription, lane, due_at, position) where due_at is not null and crashes = 0;
create index delivery_suspect on /*schema*/delivery (subscription, lane, crashes, due_at, position)
    where due_at is not null and crashes > 0;
create index delivery_key on /*schema*/delivery (subscription, key_hash, position);
-- The few of a key that are not parked: many may be parked behind them.
create index delivery_head on /*schema*/delivery (subscription, key_hash, position)
    where state in ('waiting', 'sending', 'held', 'unreadable');
create index delivery_held on /*schema*/delivery (subscription, position) where state = 'held';
create index delivery_sending on /*schema*/delivery (subscription, lane) where state in ('sending', 'unreadable');
create index delivery_outbox_day on /*schema*/delivery (outbox_day);

-- Every attempt that failed, and the one of a retried message that did not, for as long as its partition is kept.
create table /*schema*/attempt (
    id           bigint      not null generated always as identity,
    day          date        not null default (now() at time zone 'utc')::date,
    subscription text        not null,
    position     bigint      not null,
    attempt      integer     not null,
    -- When it ended.
    at           timestamptz not null default clock_timestamp(),
    duration     interval    not null,
    node         text        not null,
    outcome      text        not null,
    error_class  text,
    error        text,
    fingerprint  text,
    constraint attempt_error check ((outcome = 'accepted') = (error_class is null) and (error_class is null) = (error is null)
                                    and (error_class is null) = (fingerprint is null))
) partition by range (day);
create index attempt_message on /*schema*/attempt (subscription, position, at);
insert into /*schema*/daily_table (name, has_default, unique_column) values ('attempt', true, 'id');
select count(*) from /*schema*/keep_partitions();

-- The last hundred attempts at a message that were not accepted, as its dead letter keeps them.
create function /*schema*/attempt_history(subscription text, "position" bigint)
    returns jsonb
    language sql
    stable
as
$$
    select coalesce(jsonb_agg(jsonb_build_object('attempt', a.attempt, 'at', a.at, 'seconds', extract(epoch from a.duration),
                                                 'node', a.node, 'outcome', a.outcome, 'errorClass', a.error_class,
                                                 'error', a.error, 'fingerprint', a.fingerprint)
                              order by a.id),
                    '[]')
    from (
        select t.id, t.attempt, t.at, t.duration, t.node, t.outcome, t.error_class, t.error, t.fingerprint
        from /*schema*/attempt as t
        where t.subscription = $1 and t.position = $2 and t.outcome <> 'accepted'
        order by t.at desc
        limit 100
    ) as a
$$;
revoke all on function /*schema*/attempt_history(text, bigint) from public;

-- How far lanes had come, and when: a row a second while they move, fewer as time goes by. Tells when a message was delivered.
create table /*schema*/settlement (
    subscription text        not null references /*schema*/subscription (name) on delete cascade,
    lane         integer     not null,
    position     bigint      not null,
    at           timestamptz not null default clock_timestamp(),
    node         text        not null,
    primary key (subscription, lane, position)
);
create index settlement_at on /*schema*/settlement (at);

-- A destination that takes nothing at the moment, as one relay sees it. Gone when it is well again.
create table /*schema*/circuit (
    subscription text        not null references /*schema*/subscription (name) on delete cascade,
    relay        uuid        not null references /*schema*/relay (id) on delete cascade,
    opened_at    timestamptz not null default clock_timestamp(),
    probe_at     timestamptz not null,
    failures     integer     not null,
    error_class  text        not null,
    error        text        not null,
    primary key (subscription, relay)
);

insert into /*schema*/migration (version, name) values (7, 'delivery');
