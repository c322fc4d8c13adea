-- migrate:up
create type dimension as enum (
  'country', 'language', 'device', 'browser', 'source', 'bannerVersion', 'policyVersion', 'variant', 'category', 'crawlers'
);

-- Decisions by what they have in common: one row for each value that they have in a dimension, by UTC day and by month,
-- of a domain and of its whole organization. Crawlers' are left out, but for a dimension of their own. The spare room on
-- each page keeps updates off the index.
create table facets (
  organization_number integer not null,
  -- 0: the whole organization
  domain_number integer not null,
  dimension dimension not null,
  period text collate "C" not null,
  -- '' of those that have none
  value text collate "C" not null,
  -- of all values that have no row of their own
  is_other boolean not null,
  accept_all bigint not null default 0,
  reject_all bigint not null default 0,
  custom bigint not null default 0,
  withdraw bigint not null default 0,
  -- of these, the decisions that count for rates: what visitors chose, of that where they opted in, and of all that what
  -- they answered to a banner
  choices bigint not null default 0,
  opt_ins bigint not null default 0,
  answers bigint not null default 0,
  -- of a category only
  allowed bigint,
  denied bigint,
  -- how often a banner was shown
  displays bigint,
  primary key (organization_number, domain_number, dimension, period, value, is_other)
) with (fillfactor = 80);

-- How far the facets of one domain's epoch are, where it has more records than one transaction takes.
create table facet_progress (
  single boolean primary key default true check (single),
  epoch integer not null,
  domain_number integer not null,
  id uuid not null
);

-- migrate:down
drop table facet_progress, facets;
drop type dimension;
