-- migrate:up

-- Banners shown, counted by an API process for about a second, until they are added to the statistics. '' for none.
create table displays (
  number bigint generated always as identity primary key,
  domain_number integer not null references domains (number) on delete cascade,
  day text collate "C" not null,
  banner_version text not null,
  variant text not null,
  language text not null,
  displays integer not null
);

-- What was stored in one go, so that it is not counted twice where the answer got lost.
create table display_flushes (
  flush uuid primary key,
  stored_at timestamptz not null default clock_timestamp()
);

-- migrate:down

drop table display_flushes, displays;
