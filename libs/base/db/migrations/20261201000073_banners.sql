-- migrate:up

-- The settings of a domain's banner that are being worked on: JSON, byte for byte as it was checked. `version` grows with
-- each change.
create table banners (
  domain_number integer primary key,
  version integer not null,
  draft text not null
);

-- What was published, and never changes: a version is what its records name as their banner's.
create table banner_versions (
  domain_number integer not null,
  -- of the domain, from 1
  number integer not null,
  published_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  published_by text not null,
  note text,
  -- the earlier version that this one repeats
  restored integer,
  asks_again boolean not null,
  settings text not null,
  primary key (domain_number, number)
);

-- migrate:down

drop table banner_versions, banners;
