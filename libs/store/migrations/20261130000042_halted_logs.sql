-- migrate:up transaction:false
create index concurrently if not exists logs_halted on logs (domain_number) where halted is not null;

-- migrate:down transaction:false
drop index concurrently if exists logs_halted;
