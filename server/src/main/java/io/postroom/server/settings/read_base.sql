-- Which database this is, and who asks.
select current_database() as name, current_setting('server_version') as version, current_user::text as role
