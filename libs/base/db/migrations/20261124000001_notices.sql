-- migrate:up

-- What visitors were shown. A record may name a hash whose document nobody has put yet.
create table notices (
  number integer generated always as identity primary key,
  domain_number integer not null,
  -- milliseconds, since an entry of the log says it
  first_seen_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- When a record first named it: such a row stays, so a number that a process remembers is never one that is gone.
  named_at timestamptz,
  -- when its document was put, and when that was dropped because no record named it
  documented_at timestamptz,
  dropped_at timestamptz,
  -- those of closed epochs that name it
  records bigint not null default 0,
  hash bytea not null check (length(hash) = 32),
  -- what the document says of itself
  language text,
  version text,
  document bytea check (sha256(document) = hash),
  unique (domain_number, hash)
);
create index notices_held on notices (domain_number, number) where documented_at is not null;
create index notices_by_day on notices (domain_number, documented_at) where documented_at is not null;
-- what processes have to learn of
create index notices_changed on notices (greatest(documented_at, dropped_at))
  where greatest(documented_at, dropped_at) is not null;
create index notices_unnamed on notices (number) where named_at is null;

-- how far the records of one domain and epoch are counted, where they name more notices than one piece takes
create table notice_counting (
  single boolean primary key default true check (single),
  epoch integer not null,
  domain_number integer not null,
  notice_number integer not null
);
-- no record names one yet
insert into derivations (name, epoch) select 'notices', open - 1 from epochs;

-- Keeps a document under its hash: 'new', 'known', or 'full' where the domain has had `bound` new ones today (UTC; null:
-- no bound). One process at a time for a domain, so that the bound holds; in one call, so that none that is frozen keeps
-- the others waiting.
create function put_notice(
  of_domain text, of_hash bytea, given bytea, of_language text, of_version text, bound integer
) returns text
language plpgsql as $$
declare
  of_number integer := (select number from domains where id = of_domain);
  today timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('assent.put_notice'), of_number);
  if exists (
    select from notices where domain_number = of_number and hash = of_hash and documented_at is not null
  ) then
    return 'known';
  end if;
  today := date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC';
  if bound <= (select count(*) from notices where domain_number = of_number and documented_at >= today) then
    return 'full';
  end if;
  insert into notices as n (domain_number, hash, document, language, version, documented_at)
  values (of_number, of_hash, given, of_language, of_version, clock_timestamp())
  on conflict (domain_number, hash) do update set
    document = excluded.document, language = excluded.language, version = excluded.version,
    documented_at = excluded.documented_at, dropped_at = null;
  return 'new';
end $$;

-- Whoever records waits behind this for a moment only, also while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table records add column notice_number integer, add column variant text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read records are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table records drop column notice_number, drop column variant;
drop function put_notice;
delete from derivations where name = 'notices';
drop table notice_counting, notices;
