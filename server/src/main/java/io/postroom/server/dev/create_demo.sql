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
