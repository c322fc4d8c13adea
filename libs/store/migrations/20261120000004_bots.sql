-- migrate:up

-- whether the user agent was that of a known crawler; nothing was marked before
alter table records add column bot boolean not null default false;

-- few records are a crawler's: the log filtered by the mark counts only these
create index records_by_bot on records (domain_id, id, decision) where bot;

-- migrate:down

drop index records_by_bot;
alter table records drop column bot;
