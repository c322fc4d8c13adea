-- migrate:up

-- Fields that records and displays lost: of each domain the newest few, for 30 days, and never a value.
create table ignored_fields (
  domain_number integer not null references domains (number) on delete cascade,
  field text collate "C" not null,
  why text collate "C" not null,
  type text collate "C" not null,
  length integer,
  ignored_at timestamptz not null default clock_timestamp(),
  primary key (domain_number, field)
);

-- migrate:down

drop table ignored_fields;
