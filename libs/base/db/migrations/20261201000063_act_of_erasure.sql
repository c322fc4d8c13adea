-- migrate:up transaction:false

-- finds who asked for an erasure
create index concurrently visitor_acts_of_erasure on visitor_acts (erasure_id) where erasure_id is not null;

-- migrate:down transaction:false

drop index visitor_acts_of_erasure;
