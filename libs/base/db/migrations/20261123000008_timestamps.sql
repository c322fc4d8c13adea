-- migrate:up

-- What a time-stamping authority (RFC 3161) signed, once a day: the root of a tree whose leaves are the newest checkpoints
-- of all domains. One row a day, of some 2 to 8 kB.
create table timestamps (
  number integer generated always as identity primary key,
  root bytea not null,
  -- leaves of the tree
  size integer not null,
  token bytea not null,
  stamped_at timestamptz not null
);

-- A log's checkpoint in such a tree. It gets a row only where it has changed since the log's last one: at most one a log and
-- day, and none for a log without traffic. With 10,000 domains a row is 0.8 kB, so a domain that records on every day costs
-- 0.3 MB a year. Older rows are kept: that a record existed last year is worth more than that it existed yesterday.
-- No foreign key to logs: it would lock their heads, which sealing needs.
create table stamped_checkpoints (
  domain_number integer not null,
  log integer not null,
  timestamp_number integer not null references timestamps,
  -- among the leaves, from 0
  place integer not null,
  -- entries that the checkpoint covers
  size bigint not null,
  -- the signed note, so that a proof can be made against it; the leaf is its body
  checkpoint text not null,
  -- 32 bytes a hash, the leaf's sibling first
  path bytea not null,
  primary key (domain_number, log, timestamp_number)
);

-- When the authority is asked next. The worker that moves `next_try_at` is the one that asks.
create table timestamp_tries (
  single boolean primary key default true check (single),
  next_try_at timestamptz not null,
  -- since the last success, a try that has just begun included
  failures integer not null default 0,
  -- the last success, or when the first time-stamp was wanted
  succeeded_at timestamptz not null
);

-- migrate:down

drop table timestamp_tries, stamped_checkpoints, timestamps;
