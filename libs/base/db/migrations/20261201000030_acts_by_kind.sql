-- migrate:up transaction:false

-- finds the acts of one kind among the many of reads
create index concurrently visitor_acts_by_kind on visitor_acts (organization_number, act, id);

-- migrate:down transaction:false

drop index visitor_acts_by_kind;
