-- Who wants which messages, how far each lane is, and which relays are alive.

create table /*schema*/subscription (
    name            text        not null primary key,
    lanes           integer     not null,
    ordering        text        not null default 'key',
    -- Null means all.
    aggregate_types text[],
    event_types     text[],
    tenants         text[],
    created_at      timestamptz not null default clock_timestamp(),
    constraint subscription_name check (name ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint subscription_lanes check (lanes between 1 and 256),
    constraint subscription_ordering check (ordering in ('key', 'none'))
);

-- One row per lane, updated in place a few times a second; half of each page is left free so that updates stay on it.
create table /*schema*/lane (
    subscription text    not null references /*schema*/subscription (name) on delete cascade,
    lane         integer not null,
    -- Everything up to here has been accepted, in this lane.
    position     bigint  not null,
    owner        uuid,
    leased_until timestamptz,
    -- Grows with every change of owner; a settle with an older one changes nothing.
    fence        bigint  not null default 0,
    primary key (subscription, lane),
    constraint lane_number check (lane >= 0),
    constraint lane_position check (position >= 0),
    constraint lane_lease check ((owner is null) = (leased_until is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table /*schema*/relay (
    id            uuid        not null primary key,
    name          text        not null,
    subscriptions text[]      not null,
    started_at    timestamptz not null default clock_timestamp(),
    leased_until  timestamptz not null
) with (fillfactor = 50);

insert into /*schema*/migration (version, name) values (4, 'subscription');
