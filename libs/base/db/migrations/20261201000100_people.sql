-- migrate:up

-- Who signs in with a password. The address is in lower case.
create table people (
  number bigint generated always as identity primary key,
  email text not null unique,
  name text not null,
  -- `scrypt$LOG2N$R$P$SALT$HASH`, the last two in base64
  password text not null,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  last_seen_at timestamptz
);

-- A person's rights in an organization, under an id of the organization's own; while pending they are those of whoever has
-- the invitation.
create table organization_people (
  number bigint generated always as identity primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  person_number bigint references people (number) on delete cascade,
  -- as invited; null once accepted
  email text,
  scopes text[] not null,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  check ((person_number is null) = (email is not null)),
  unique (organization_id, person_number),
  unique (organization_id, email)
);
create index organization_people_by_person on organization_people (person_number) where person_number is not null;

-- Only the SHA-256 of the cookie's secret is kept.
create table person_sessions (
  hash bytea primary key,
  person_number bigint not null references people (number) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz not null default clock_timestamp(),
  -- the organization used last
  last_organization text references organizations (id) on delete set null
);
create index person_sessions_by_person on person_sessions (person_number);
create index person_sessions_by_last_organization on person_sessions (last_organization);

-- Links that work once: an invitation into an organization, a person's new password, or, with neither, the first set-up.
-- Only the SHA-256 of the link's secret is kept.
create table person_links (
  hash bytea primary key,
  member_number bigint unique references organization_people (number) on delete cascade,
  person_number bigint unique references people (number) on delete cascade,
  expires_at timestamptz not null,
  check (member_number is null or person_number is null)
);

-- migrate:down

drop table person_links, person_sessions, organization_people, people;
