-- migrate:up

-- Which keys this database is used with: derived from each, so that nothing of it can be told.
create table key_fingerprints (
  name text primary key,
  fingerprint text not null,
  -- of the key before it, while keys rotate
  previous text,
  noted_at timestamptz not null default clock_timestamp()
);

-- migrate:down

drop table key_fingerprints;
