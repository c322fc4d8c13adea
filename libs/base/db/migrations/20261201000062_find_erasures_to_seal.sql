-- migrate:up transaction:false

create index concurrently erasures_to_seal_of_erasure on erasures_to_seal (erasure) where erasure is not null;

-- migrate:down transaction:false

drop index erasures_to_seal_of_erasure;
