-- The demo's own tables. Each row is an aggregate; its version counts its changes.
create schema if not exists demo;

create table if not exists /*schema*/orders (
    id          uuid        not null primary key,
    tenant_id   text        not null,
    customer    text        not null,
    total_cents integer     not null,
    state       text        not null default 'placed' check (state in ('placed', 'paid', 'shipped')),
    version     bigint      not null default 1,
    changed_at  timestamptz not null default clock_timestamp()
);
create index if not exists orders_open on /*schema*/orders (state, changed_at) where state <> 'shipped';

create table if not exists /*schema*/cases (
    id         uuid        not null primary key,
    tenant_id  text        not null,
    subject    text        not null,
    state      text        not null default 'opened' check (state in ('opened', 'escalated', 'closed')),
    version    bigint      not null default 1,
    changed_at timestamptz not null default clock_timestamp()
);
create index if not exists cases_open on /*schema*/cases (state, changed_at) where state <> 'closed';

-- What a client pays; see what a storm of duplicates leaves.
create table if not exists /*schema*/payments (
    id    uuid        not null primary key,
    cents integer     not null,
    at    timestamptz not null default clock_timestamp()
);

-- What is broken at the moment, by the names of postroom dev break.
create table if not exists /*schema*/faults (
    name  text        not null primary key,
    since timestamptz not null default clock_timestamp()
);
