-- A customer complains.
--   :id uuid   :tenant_id text   :subject text
insert into /*schema*/cases (id, tenant_id, subject)
values (:id, :tenant_id, :subject)
