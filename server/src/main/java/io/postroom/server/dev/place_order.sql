-- A customer orders something.
--   :id uuid   :tenant_id text   :customer text   :total_cents int
insert into /*schema*/orders (id, tenant_id, customer, total_cents)
values (:id, :tenant_id, :customer, :total_cents)
