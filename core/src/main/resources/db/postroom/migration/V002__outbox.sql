-- The outbox: where an application leaves messages inside its own transaction. Insert-only.

-- What a column of its own must be is said by its type: PostgreSQL reads the rule of a domain once in a session, but the check of a table
-- anew for every insert, which cost a third of one.
create domain /*schema*/filled_text as text
    constraint filled_text check (value <> '');
create domain /*schema*/version_number as integer
    constraint version_number check (value > 0);
-- A hand-written insert must not leave what no reader can read.
create domain /*schema*/json_object as json
    constraint json_object check (json_typeof(value) = 'object');
create domain /*schema*/calendar_time as timestamptz
    constraint calendar_time check (value between '0001-01-01 00:00:00Z' and '9999-12-31 23:59:59.999999Z');

create table /*schema*/outbox (
    -- xid comes first: defaults are computed in this order, and seq and day must be drawn after the transaction has its xid.
    -- The stamp relies on it (see stamp in the journal's migration).
    xid               xid8                     not null default pg_current_xact_id(),
    seq               bigint                   not null generated always as identity,
    day               date                     not null default (clock_timestamp() at time zone 'utc')::date,
    id                uuid                     not null,
    tenant_id         /*schema*/filled_text,
    aggregate_type    /*schema*/filled_text    not null,
    aggregate_id      /*schema*/filled_text    not null,
    aggregate_version bigint,
    event_type        /*schema*/filled_text    not null,
    event_version     /*schema*/version_number not null default 1,
    payload           json                     not null,
    headers           /*schema*/json_object,
    occurred_at       /*schema*/calendar_time  not null default clock_timestamp(),
    available_at      /*schema*/calendar_time
) partition by range (day);

create index outbox_xid on /*schema*/outbox (xid);

insert into /*schema*/daily_table (name, has_default, unique_column) values ('outbox', true, 'seq');
select count(*) from /*schema*/keep_partitions();

-- Whether messages lie in the default partition, because nobody made their day's own in time.
create function /*schema*/has_strays()
    returns boolean
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
return exists (select 1 from /*schema*/outbox_default);
revoke all on function /*schema*/has_strays() from public;

-- A UUID of version 7: sorts by the time it was made.
create function /*schema*/time_ordered_id()
    returns uuid
    language sql
    volatile
    parallel safe
    set search_path = pg_catalog, pg_temp
return encode(
    set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
                placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        52, 1), 53, 1),
    'hex')::uuid;

-- True if an object anywhere in the value has a key twice. PostgreSQL 16 can say so itself; before, we walk the value.
do
$do$
begin
    if current_setting('server_version_num')::integer >= 160000 then
        execute $sql$
            create function /*schema*/json_repeats_key(value json)
                returns boolean language sql immutable parallel safe set search_path = pg_catalog, pg_temp
            return not (value is json with unique keys)
        $sql$;
    else
        execute $sql$
            create function /*schema*/json_repeats_key(value json)
                returns boolean language sql immutable parallel safe set search_path = pg_catalog, pg_temp
            begin atomic
                with recursive node (value) as (
                    select json_repeats_key.value
                    union all
                    select child.value
                    from node
                    cross join lateral (
                        select each.value from json_each(case json_typeof(node.value) when 'object' then node.value end) as each
                        union all
                        select item.value
                        from json_array_elements(case json_typeof(node.value) when 'array' then node.value end) as item
                    ) as child
                    where json_typeof(child.value) in ('object', 'array')
                )
                select exists (
                    select 1
                    from node
                    where json_typeof(node.value) = 'object'
                      and (select count(*) > count(distinct key) from json_object_keys(node.value) as key)
                );
            end
        $sql$;
    end if;
end
$do$;

-- What is wrong with a payload or with headers, by the rules of MessageRules in Java: the rule's code without its noun, and a sentence.
-- Null if nothing is.
create function /*schema*/content_problem(payload json, headers json, out code text, out problem text)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as
$$
#variable_conflict use_variable
declare
    header_form constant text   := '^[A-Za-z0-9_.-]+$';
    -- Not [[:cntrl:]]: what that means depends on the database's locale.
    control    constant text    := '[\u0001-\u001f\u007f-\u009f]';
    number_problem constant text :=
        'payload has a number of more than 308 digits before or 400 after the decimal point; send it as a string';
    payload_bytes integer       := octet_length(payload::text);
    -- Not counted: whoever publishes within a trace has them besides its own.
    trace      constant text[]  := array ['traceparent', 'tracestate'];
    headers_bytes bigint        := octet_length(headers::text);
    headers_count bigint;
    parsed     jsonb;
    header     record;
begin
    if payload is null then
        code := 'payload-missing';
        problem := 'payload is null; publish the JSON value null as ''null''';
    elsif payload_bytes > 1048576 then
        code := 'payload-too-large';
        problem := format('payload is %s bytes, the limit is 1048576; store it elsewhere and publish a reference', payload_bytes);
    end if;

    if code is null then
        begin
            parsed := payload::jsonb;
            if jsonb_path_exists(parsed, 'strict $.**{100} ? (@.type() == "object" || @.type() == "array")') then
                code := 'payload-too-deep';
                problem := 'payload is nested deeper than 100 levels';
            elsif exists (
                select 1
                from jsonb_path_query(parsed, 'strict $.** ? (@.type() == "number")') as number
                where abs(number::numeric) >= 1e308 or scale(number::numeric) > 400
            ) then
                code := 'payload-number-too-large';
                problem := number_problem;
            elsif /*schema*/json_repeats_key(payload) then
                code := 'payload-repeats-key';
                problem := 'payload has an object with the same key twice';
            end if;
        exception
            when untranslatable_character then
                code := 'payload-nul';
                problem := 'payload has the character U+0000, which PostgreSQL cannot store in text; leave it out';
            when invalid_text_representation then
                code := 'payload-not-unicode';
                problem := 'payload has half of a surrogate pair; send whole characters';
            when numeric_value_out_of_range then
                code := 'payload-number-too-large';
                problem := number_problem;
            when statement_too_complex then
                code := 'payload-too-deep';
                problem := 'payload is nested deeper than 100 levels';
        end;
    end if;

    if code is null and headers is not null then
        if json_typeof(headers) <> 'object' then
            code := 'headers-invalid';
            problem := format('headers are a JSON %s, they must be an object of strings', json_typeof(headers));
        else
            begin
                parsed := headers::jsonb;
                -- With the quotes of the name, the colon and a comma.
                select headers_bytes - coalesce(sum(octet_length(each.key) + octet_length(each.value::text) + 4)
                                                filter (where each.key = any (trace)), 0),
                       count(*) filter (where each.key <> all (trace))
                into headers_bytes, headers_count
                from json_each(headers) as each;
                if headers_bytes > 32768 then
                    code := 'headers-too-large';
                    problem := format('headers are %s bytes as JSON, the limit is 32768', headers_bytes);
                elsif /*schema*/json_repeats_key(headers) then
                    code := 'headers-invalid';
                    problem := 'headers have the same name twice';
                elsif headers_count > 64 then
                    code := 'headers-too-many';
                    problem := format('there are %s headers, the limit is 64', headers_count);
                end if;
                for header in
                    select each.key as name, json_typeof(each.value) as type, headers ->> each.key as value
                    from json_each(headers) as each
                loop
                    exit when code is not null;
                    if header.name !~ header_form or length(header.name) > 100 then
                        code := 'header-name-invalid';
                        problem := format('header name is %L, it must be 1 to 100 letters, digits or _ . -',
                                          regexp_replace(left(header.name, 60), control, '?', 'g'));
                    elsif lower(left(header.name, 9)) = 'postroom-' then
                        code := 'header-name-reserved';
                        problem := format('header name is %L, names that begin with postroom- are Postroom''s own; choose another,'
                                          ' and leave these out when you pass headers on', header.name);
                    elsif header.type <> 'string' then
                        code := 'headers-invalid';
                        problem := format('header %s is a JSON %s, it must be a string', header.name, header.type);
                    elsif header.value ~ control then
                        code := 'header-value-invalid';
                        problem := format('header %s has a control character; leave it out or encode it', header.name);
                    elsif octet_length(header.value) > 8192 then
                        code := 'header-value-too-large';
                        problem := format('header %s is %s bytes, the limit is 8192', header.name, octet_length(header.value));
                    end if;
                end loop;
            exception
                -- U+0000 or half of a surrogate pair, in a name if the text before some colon has one.
                when untranslatable_character or invalid_text_representation then
                    if headers::text ~ '"([^"\\]|\\.)*\\u(0000|[dD][89a-fA-F])([^"\\]|\\.)*"\s*:' then
                        code := 'header-name-invalid';
                        problem := 'a header name has U+0000 or half of a surrogate pair, it must be 1 to 100 letters, digits or _ . -';
                    else
                        code := 'header-value-invalid';
                        problem := 'a header has U+0000 or half of a surrogate pair; leave it out or encode it';
                    end if;
                when numeric_value_out_of_range or statement_too_complex then
                    code := 'headers-invalid';
                    problem := 'a header is not a string; headers must be an object of strings';
            end;
        end if;
    end if;
end
$$;
revoke all on function /*schema*/content_problem(json, json) from public;

-- Publishes a message from SQL, in the caller's transaction, and returns its id. The rules are those of MessageRules in Java;
-- a broken one is an error with SQLSTATE 22023 whose detail is the rule's code.
create function /*schema*/publish(
    aggregate_type    text,
    aggregate_id      text,
    event_type        text,
    payload           json,
    tenant_id         text        default null,
    aggregate_version bigint      default null,
    event_version     integer     default 1,
    headers           json        default null,
    occurred_at       timestamptz default null,
    available_at      timestamptz default null,
    id                uuid        default null
)
    returns uuid
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as
$$
#variable_conflict use_variable
declare
    name_form  constant text    := '^[A-Za-z0-9][A-Za-z0-9_.:/-]*$';
    -- Not [[:cntrl:]]: what that means depends on the database's locale.
    control    constant text    := '[\u0001-\u001f\u007f-\u009f]';
    message_id uuid             := coalesce(id, /*schema*/time_ordered_id());
    code       text;
    problem    text;
begin
    if aggregate_type is null or aggregate_type !~ name_form or length(aggregate_type) > 200 then
        code := 'message.aggregate-type-invalid';
        problem := format('aggregate type is %s, it must be 1 to 200 letters, digits or _ . : / -, beginning with a letter or digit',
                          coalesce(quote_literal(regexp_replace(left(aggregate_type, 60), control, '?', 'g')), 'null'));
    elsif aggregate_id is null or length(aggregate_id) not between 1 and 500 or aggregate_id ~ control then
        code := 'message.aggregate-id-invalid';
        problem := format('aggregate id is %s, it must be 1 to 500 characters without control characters',
                          coalesce(quote_literal(regexp_replace(left(aggregate_id, 60), control, '?', 'g')), 'null'));
    elsif event_type is null or event_type !~ name_form or length(event_type) > 200 then
        code := 'message.event-type-invalid';
        problem := format('event type is %s, it must be 1 to 200 letters, digits or _ . : / -, beginning with a letter or digit',
                          coalesce(quote_literal(regexp_replace(left(event_type, 60), control, '?', 'g')), 'null'));
    elsif length(tenant_id) not between 1 and 200 or tenant_id ~ control then
        code := 'message.tenant-id-invalid';
        problem := format('tenant id is %L, it must be 1 to 200 characters without control characters',
                          regexp_replace(left(tenant_id, 60), control, '?', 'g'));
    elsif aggregate_version < 0 then
        code := 'message.aggregate-version-invalid';
        problem := format('aggregate version is %s, the least is 0', aggregate_version);
    elsif event_version is null or event_version < 1 then
        code := 'message.event-version-invalid';
        problem := format('event version is %s, the least is 1', coalesce(event_version::text, 'null'));
    elsif id = '00000000-0000-0000-0000-000000000000' then
        code := 'message.id-invalid';
        problem := 'id is the nil UUID; leave it out or give a real one';
    elsif not occurred_at between '0001-01-01 00:00:00Z' and '9999-12-31 23:59:59.999999Z' then
        code := 'message.occurred-at-invalid';
        problem := format('occurred at is %s, the range is year 1 to 9999', occurred_at);
    elsif not available_at between '0001-01-01 00:00:00Z' and '9999-12-31 23:59:59.999999Z' then
        code := 'message.available-at-invalid';
        problem := format('available at is %s, the range is year 1 to 9999', available_at);
    end if;

    if code is null then
        select 'message.' || content.code, content.problem into code, problem
        from /*schema*/content_problem(payload, headers) as content;
    end if;
    if code is not null then
        raise exception 'could not publish message %: %', message_id, problem using errcode = '22023', detail = code;
    end if;

    insert into /*schema*/outbox (id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version,
                                  payload, headers, occurred_at, available_at)
    values (message_id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version,
            payload, headers, coalesce(occurred_at, clock_timestamp()), available_at);
    return message_id;
end
$$;
revoke all on function /*schema*/publish(text, text, text, json, text, bigint, integer, json, timestamptz, timestamptz, uuid)
    from public;

revoke all on function /*schema*/time_ordered_id() from public;
revoke all on function /*schema*/json_repeats_key(json) from public;

insert into /*schema*/migration (version, name) values (2, 'outbox');
