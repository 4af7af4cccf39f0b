-- Take a payment, as a handler of requests would.
--   :id uuid   :cents int
insert into /*schema*/payments (id, cents) values (:id, :cents)
