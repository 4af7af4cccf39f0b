-- A generation that was asked for has its schema, tables and subscription.
--   :read_model text   :number int   :state text   :subscription text   :ddl text
update /*schema*/generation
set state = :state, subscription = :subscription, ddl = :ddl, made_at = clock_timestamp(), error = null,
    live_at = case when :state = 'live' then clock_timestamp() end
where read_model = :read_model and number = :number and state = 'asked'
