-- migrate:up

-- A domain's logs: after a restart it has a second one, and so on. The last one grows.
create table logs (
  domain_number integer not null references domains (number),
  log integer not null,
  -- of checkpoints and of the key; stays when LOG_NAME changes
  origin text not null unique,
  -- entries that have a position, and the roots of the complete subtrees that they make
  size bigint not null default 0,
  frontier bytea not null default '',
  -- what its newest entry is
  last_epoch integer not null default 0,
  last_id uuid not null default '00000000-0000-0000-0000-000000000000',
  -- the first epoch that was passed over while the log was halted
  waits_from integer,
  -- why it gets no positions and no signatures
  halted text check (halted in ('behind', 'unconfirmed')),
  -- the newest that was published, with the keys that signed it
  checkpoint_size bigint not null default 0,
  checkpoint text,
  signed_by text,
  sealed_at timestamptz,
  -- followed by another one
  ended_at timestamptz,
  primary key (domain_number, log)
) with (fillfactor = 50);

-- Consecutive entries of a log: what sealing stored at once, folded into one row as soon as all 256 of a tile are there.
-- No row reaches over the end of a tile. Ids and secrets of expired records are zeros, or gone where all are.
create table log_runs (
  first bigint not null,
  domain_number integer not null,
  log integer not null,
  entries integer not null,
  -- of its last record
  last_epoch integer not null,
  last_id uuid not null,
  -- 16, 16 and 32 bytes an entry
  ids bytea,
  secrets bytea,
  leaves bytea not null,
  primary key (domain_number, log, first)
);
-- random bytes do not shrink
alter table log_runs
  alter ids set storage external, alter secrets set storage external, alter leaves set storage external;
-- finds the place of a record
create index log_runs_by_record on log_runs (domain_number, last_epoch, last_id);

-- Where an id is among ids of 16 bytes each, from 0. A visitor's browser makes the ids, so one may be made to appear across
-- two others: a place that is not a multiple of 16 is none.
create function place_among(ids bytea, id uuid) returns integer
language sql immutable strict parallel safe
return (
  select case
    when found % 16 = 1 then found / 16
    when found > 0 then (
      select place from generate_series(0, length(ids) / 16 - 1) as place
      where substr(ids, place * 16 + 1, 16) = uuid_send(id) limit 1
    )
  end
  from position(uuid_send(id) in ids) as found
);

-- the roots of complete subtrees of 256 entries (level 1), 65,536 (level 2) and so on: what tiles of these levels hold
create table log_nodes (
  n bigint not null,
  domain_number integer not null,
  log integer not null,
  level integer not null,
  hash bytea not null,
  primary key (domain_number, log, level, n)
);

-- every key that ever signed a log's checkpoints
create table log_keys (
  domain_number integer not null,
  log integer not null,
  verifier_key text not null,
  added_at timestamptz not null default clock_timestamp(),
  primary key (domain_number, log, verifier_key),
  foreign key (domain_number, log) references logs
);

-- Which server the logs were last sealed on. One that was restored or promoted is another.
create table log_server (
  single boolean primary key default true check (single),
  system_identifier text not null,
  timeline text not null
);

-- migrate:down

drop table log_server, log_keys, log_nodes, log_runs, logs;
drop function place_among;
