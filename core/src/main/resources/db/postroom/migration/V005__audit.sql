-- What operators did, and why. Rows are added, never changed.

create table /*schema*/audit (
    id      bigint      not null generated always as identity primary key,
    at      timestamptz not null default clock_timestamp(),
    -- Who says to have done it, and the role that did.
    actor   text        not null,
    role    text        not null default session_user,
    -- Noun and verb, as on the command line: subscription pause, deadletter redrive.
    action  text        not null,
    subject text        not null,
    reason  text        not null,
    details jsonb       not null default '{}',
    constraint audit_actor check (length(actor) between 1 and 200),
    constraint audit_action check (length(action) between 1 and 100),
    constraint audit_subject check (length(subject) between 1 and 500),
    constraint audit_reason check (length(reason) between 1 and 1000)
);
-- Whatever is asked for is read newest first, and stretches of time are stretches of these.
create index audit_at on /*schema*/audit (at, id);
create index audit_subject on /*schema*/audit (subject, at, id);
create index audit_action on /*schema*/audit (action, at, id);
create index audit_actor on /*schema*/audit (actor, at, id);

-- What operators asked the console for, by the key that they gave, and what it answered: asked again, the same is answered and nothing is
-- done again. Written in the transaction of the act, so that both are there, or neither. Kept for a day.
create table /*schema*/act (
    actor  text        not null,
    key    text        not null,
    -- A hash of what was asked for: the same key with something else is a mistake.
    asked  bytea       not null,
    -- Empty only inside the transaction of the act.
    answer text        not null default '',
    at     timestamptz not null default clock_timestamp(),
    primary key (actor, key),
    constraint act_actor check (length(actor) between 1 and 200),
    constraint act_key check (length(key) between 1 and 300),
    constraint act_asked check (octet_length(asked) = 32)
);
create index act_at on /*schema*/act (at);

insert into /*schema*/migration (version, name) values (5, 'audit');
