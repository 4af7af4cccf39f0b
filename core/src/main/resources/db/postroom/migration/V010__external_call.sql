-- Calls to others that must take effect once: which key they go under, and how they ended. A row is committed before the call is made.

create table /*schema*/external_call (
    id           bigint      not null generated always as identity primary key,
    -- What the provider gets: name:tenant:business id:rREVISION. The same at every attempt; the fence is not in it.
    key          text        not null,
    name         text        not null,
    tenant_id    text        not null,
    business_id  text        not null,
    -- Grows only when the one before was declined: then it is certain that nothing happened.
    revision     integer     not null,
    -- SHA-256 of what is asked for; under one revision it never changes.
    request_hash text        not null,
    -- calling               an attempt is on its way, or nobody knows how the last one ended
    -- done                  it has happened
    -- declined              it has not happened and never will under this key
    -- needs_reconciliation  nobody knows, and the provider may have forgotten the key: somebody must look there
    state        text        not null default 'calling',
    -- Grows with every attempt and guards our own updates.
    fence        bigint      not null default 1,
    attempts     integer     not null default 1,
    created_at   timestamptz not null default clock_timestamp(),
    called_at    timestamptz not null default clock_timestamp(),
    -- Until then nobody else calls.
    leased_until timestamptz,
    -- Until then the provider knows the key.
    window_until timestamptz not null,
    ended_at     timestamptz,
    -- What the provider calls it.
    reference    text,
    -- Why it was declined or parked, or what went wrong last.
    reason       text,
    constraint external_call_key unique (key),
    constraint external_call_key_form check (key = name || ':' || tenant_id || ':' || business_id || ':r' || revision),
    constraint external_call_key_length check (length(key) <= 255),
    constraint external_call_revision check (revision between 1 and 1000),
    constraint external_call_request_hash check (request_hash ~ '^[0-9a-f]{64}$'),
    constraint external_call_state check (state in ('calling', 'done', 'declined', 'needs_reconciliation')),
    constraint external_call_ended check ((state in ('done', 'declined')) = (ended_at is not null)),
    constraint external_call_leased check ((state = 'calling') = (leased_until is not null)),
    constraint external_call_window check (window_until > created_at),
    constraint external_call_reference check (length(reference) between 1 and 255),
    constraint external_call_reason check (length(reason) <= 2000)
);
-- Of one operation only one revision may have happened, or be going to.
create unique index external_call_open on /*schema*/external_call (tenant_id, name, business_id) where state <> 'declined';
create index external_call_operation on /*schema*/external_call (tenant_id, name, business_id, revision);
create index external_call_unknown on /*schema*/external_call (window_until) where state = 'calling';
-- The lists.
create index external_call_state on /*schema*/external_call (state, id);
create index external_call_tenant on /*schema*/external_call (tenant_id, id);
create index external_call_name on /*schema*/external_call (name, id);

insert into /*schema*/migration (version, name) values (10, 'external_call');
