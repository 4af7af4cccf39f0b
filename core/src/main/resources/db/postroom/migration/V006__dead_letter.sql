-- What was given up on, whole: it outlives the outbox's partitions. And the redrives that operators ask for.

create table /*schema*/dead_letter (
    id                bigint      not null generated always as identity primary key,
    -- Whose it is: a subscription's message, by its position in the journal.
    source            text        not null,
    owner             text        not null,
    position          bigint      not null,
    key_hash          integer     not null,
    -- The message.
    message_id        uuid        not null,
    tenant_id         text,
    aggregate_type    text        not null,
    aggregate_id      text        not null,
    aggregate_version bigint,
    event_type        text        not null,
    event_version     integer     not null,
    payload           json        not null,
    headers           json,
    occurred_at       timestamptz not null,
    available_at      timestamptz,
    -- It was read by a replay that ends there: if it is redriven, its receiver is told so.
    replay_to         bigint,
    -- Why: rejected by the sink, out of attempts, the process ended each time it was tried, or an operator skipped it.
    cause             text        not null,
    attempts          integer     not null,
    error_class       text        not null,
    error             text        not null,
    fingerprint       text        not null,
    -- Its attempts: number, time, node, duration, error class, error, fingerprint.
    history           jsonb       not null default '[]',
    buried_at         timestamptz not null default clock_timestamp(),
    buried_by         text        not null,
    -- The dead letter it was redriven from before it failed again.
    origin            bigint      references /*schema*/dead_letter (id),
    -- Null while it is open. What ends it is final: a redriven message that fails again is a new dead letter.
    resolution        text,
    resolved_at       timestamptz,
    resolved_by       text,
    redrive           uuid,
    -- The payload it was redriven with, if an operator changed it. The original stays.
    patched           json,
    constraint dead_letter_source check (source in ('subscription')),
    constraint dead_letter_cause check (cause in ('rejected', 'exhausted', 'crashed', 'skipped')),
    constraint dead_letter_resolution check (resolution in ('redriven', 'discarded')),
    constraint dead_letter_resolved check ((resolution is null) = (resolved_at is null) and (resolution is null) = (resolved_by is null)),
    constraint dead_letter_patched check (patched is null or resolution = 'redriven')
);
-- One open dead letter for a message of a subscription.
create unique index dead_letter_open on /*schema*/dead_letter (source, owner, position) where resolution is null;
-- The list of open ones, whoever has them: the newest ids may be those of a million that were just resolved.
create index dead_letter_newest on /*schema*/dead_letter (id) where resolution is null;
-- The list of open ones, by owner; and the groups.
create index dead_letter_list on /*schema*/dead_letter (owner, id) where resolution is null;
create index dead_letter_group on /*schema*/dead_letter (owner, fingerprint, event_type, id) include (source, cause)
    where resolution is null;
-- Those of a key, whoever has them, and of whichever tenant.
create index dead_letter_aggregate on /*schema*/dead_letter (aggregate_id, id) where resolution is null;
create index dead_letter_key on /*schema*/dead_letter (owner, key_hash, position) where resolution is null;
-- The list of resolved ones, of one kind or both.
create index dead_letter_resolved on /*schema*/dead_letter (resolution, resolved_at, id) where resolution is not null;
create index dead_letter_owner_resolved on /*schema*/dead_letter (owner, resolution, resolved_at, id)
    where resolution is not null;
-- What a relay that takes a lane must not send again, though it lies beyond the lane's position.
create index dead_letter_position on /*schema*/dead_letter (owner, position);
create index dead_letter_message on /*schema*/dead_letter (message_id);
-- What a redrive has done: whether its canary lives.
create index dead_letter_redrive on /*schema*/dead_letter (redrive, id) where redrive is not null;

-- A redrive or discard of many: what was asked for, how far it is. Whoever steps it locks its row; a step that dies leaves nothing.
create table /*schema*/redrive (
    -- Chosen by whoever asks, so that asking twice is asking once.
    id         uuid        not null primary key,
    action     text        not null,
    filter     jsonb       not null,
    -- json: the order of names in what it adds is kept.
    patch      json,
    actor      text        not null,
    reason     text        not null,
    -- Dead letters buried later are not meant.
    id_max     bigint      not null,
    total      bigint      not null,
    -- Per second; null: as fast as it goes.
    rate       double precision,
    -- So many first; the rest only when all of them were delivered.
    canary     integer,
    state      text        not null default 'running',
    -- The last dead letter that was looked at.
    reached    bigint      not null default 0,
    done       bigint      not null default 0,
    skipped    bigint      not null default 0,
    -- Why, and how many each.
    skips      jsonb       not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    began_at   timestamptz,
    -- Up to when its rate is used up; it may lie ahead.
    paced_to   timestamptz,
    canary_at  timestamptz,
    ended_at   timestamptz,
    -- Why it ended, where that is not plain.
    note       text,
    constraint redrive_action check (action in ('redrive', 'discard')),
    constraint redrive_state check (state in ('running', 'canary', 'done', 'cancelled', 'stopped')),
    constraint redrive_ended check ((state in ('done', 'cancelled', 'stopped')) = (ended_at is not null)),
    constraint redrive_rate check (rate > 0),
    constraint redrive_canary check (canary > 0),
    constraint redrive_discards_whole check (action = 'redrive' or patch is null and canary is null),
    constraint redrive_actor check (length(actor) between 1 and 200),
    constraint redrive_reason check (length(reason) between 1 and 1000)
);
create index redrive_running on /*schema*/redrive (created_at) where ended_at is null;

insert into /*schema*/migration (version, name) values (6, 'dead_letter');
