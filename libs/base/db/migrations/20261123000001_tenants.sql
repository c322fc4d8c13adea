-- migrate:up

create table plans (
  name text primary key,
  consent_log boolean not null default true,
  monthly_record_limit bigint check (monthly_record_limit >= 0),
  created_at timestamptz not null default now()
);

-- What many rows name, they name by number. A number is never reused.
create table organizations (
  number integer generated always as identity unique,
  id text primary key,
  name text not null,
  plan text not null references plans (name),
  -- binds cursors to the organization
  cursor_key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  -- of a large one: from when on its records are in an index of their own
  log_indexed_since timestamptz,
  created_at timestamptz not null default now()
);

-- a domain stays with its organization for good
create table domains (
  number integer generated always as identity unique,
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  organization_id text not null references organizations (id),
  name text not null,
  origins text[] not null default '{}',
  created_at timestamptz not null default now()
);
-- an organization's domains in the order of their ids, a page at a time
create index domains_by_organization on domains (organization_id, id);

-- only the SHA-256 of a key is kept; the prefix is for people
create table api_keys (
  hash bytea primary key,
  domain_id text not null references domains (id),
  prefix text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index on api_keys (domain_id, prefix);

-- who, what, when; also the feed by which processes learn that a cached tenant changed.
-- Writers hold the table's lock to their commit, so that ids become visible in order.
create table administrative_acts (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  act text not null,
  subject text not null,
  details jsonb not null default '{}'
);

-- migrate:down

drop table administrative_acts, api_keys, domains, organizations, plans;
