-- migrate:up transaction:false

create index concurrently erasures_to_seal_of_erasure on erasures_to_seal (erasure) where erasure is not null;
-- finds who asked for an erasure
create index concurrently visitor_acts_of_erasure on visitor_acts (erasure_id) where erasure_id is not null;

-- migrate:down transaction:false

drop index visitor_acts_of_erasure, erasures_to_seal_of_erasure;
