-- What must be right before anything is changed.
select current_setting('server_version_num')::integer as version, pg_is_in_recovery() as standby,
       current_setting('transaction_read_only')::boolean as read_only, current_setting('server_encoding') as encoding
