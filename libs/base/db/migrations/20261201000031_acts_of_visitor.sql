-- migrate:up transaction:false

-- finds the acts about one visitor
create index concurrently visitor_acts_of_visitor on visitor_acts (hash, id) where hash is not null;

-- migrate:down transaction:false

drop index visitor_acts_of_visitor;
