-- migrate:up

-- one row per domain (or, where domain_id is '', per organization) and UTC day or month;
-- the spare room on each page keeps updates off the index
create table counters (
  organization_id text collate "C" not null,
  domain_id text collate "C" not null,
  period text collate "C" not null check (period ~ '^\d{4}-\d{2}(-\d{2})?$'),
  accept_all bigint not null default 0,
  reject_all bigint not null default 0,
  custom bigint not null default 0,
  withdraw bigint not null default 0,
  primary key (organization_id, domain_id, period)
) with (fillfactor = 70);

-- counters that somebody changed without being able to raise Redis
create table owed_raises (
  id bigint generated always as identity primary key,
  organization_id text not null,
  domain_id text not null,
  period text not null,
  owed_at timestamptz not null default now()
);

-- migrate:down

drop table owed_raises, counters;
