-- migrate:up

-- What was seen of a site before a choice, after refusing and after accepting. The newest 100 of each domain are kept.
create table site_checks (
  number bigint generated always as identity primary key,
  domain_number integer not null,
  id text not null,
  checked_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  checked_by text not null,
  -- that was live then; null before the first publication
  banner_version integer,
  -- of the result, in hex
  sha256 text not null,
  -- JSON, byte for byte as it was hashed
  result text not null,
  unique (domain_number, id)
);
create index site_checks_by_domain on site_checks (domain_number, number desc);

-- migrate:down

drop table site_checks;
