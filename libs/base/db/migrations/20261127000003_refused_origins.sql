-- migrate:up

-- Origins that tried to record and are not on its list: the newest few, for 30 days.
create table refused_origins (
  domain_number integer not null references domains (number) on delete cascade,
  origin text collate "C" not null,
  refused_at timestamptz not null default clock_timestamp(),
  primary key (domain_number, origin)
);

-- migrate:down

drop table refused_origins;
