-- migrate:up

-- Few are, and they are counted in each round.
create index logs_halted on logs (domain_number) where halted is not null;

-- migrate:down

drop index logs_halted;
