-- migrate:up

-- one row per domain (or, where domain_id is '', per organization) and UTC day or month;
-- the spare room on each page keeps updates off the index
create table counters (
  organization_id text collate "C" not null,
  domain_id text collate "C" not null,
  period text collate "C" not null check (period ~ '^\d{4}-\d{2}(-\d{2})?$'),
  accept_all bigint not null default 0,
  reject_all bigint not null default 0,
  custom bigint not null default 0,
  withdraw bigint not null default 0,
  primary key (organization_id, domain_id, period)
) with (fillfactor = 70);

-- The newest records of an organization are merged from those of its domains. That takes too long where these are many:
-- from the fifty-first domain on, an organization's records are in an index.
create function index_large_organization() returns trigger
language plpgsql as $$
declare
  large text[] := array(
    select id from organizations
    where log_indexed_since is null and id in (select organization_id from added)
      and (select count(*) from domains where organization_id = organizations.id) > 50
  );
  since timestamptz := clock_timestamp();
begin
  if large = '{}' then
    return null;
  end if;
  -- of one without any records all will be in the index, if none are being stored just now
  begin
    lock table counters in share mode nowait;
    if not exists (select from counters where organization_id = any (large)) then
      since := '-infinity';
    end if;
  exception when lock_not_available then
    null;
  end;
  update organizations set log_indexed_since = since where id = any (large);
  return null;
end $$;

create trigger index_large_organization after insert on domains
referencing new table as added for each statement execute function index_large_organization();

-- counters that somebody changed without being able to raise Redis, one row each: an outage of Redis owes the same few
-- counters thousands of times
create table owed_raises (
  organization_id text collate "C" not null,
  domain_id text collate "C" not null,
  period text collate "C" not null,
  -- grows whenever the counter is owed again, so that a sweep forgets only what it raised
  times bigint not null default 1,
  primary key (organization_id, domain_id, period)
);

-- Of the records that `counters` counts in a UTC day or month, those of crawlers: the log filtered by `bot` is counted
-- without reading it.
create table crawler_counters (
  domain_number integer not null,
  period text collate "C" not null,
  accept_all bigint not null default 0,
  reject_all bigint not null default 0,
  custom bigint not null default 0,
  withdraw bigint not null default 0,
  primary key (domain_number, period)
) with (fillfactor = 70);

-- Visitors with more records on a domain than a person makes, such as an id that a site sends for everybody. Whoever
-- persists counts their records by day from when they are noted; `counted_at`: those from before are counted as well.
create table busy_visitors (
  domain_number integer not null,
  visitor_id text collate "C" not null,
  noted_at timestamptz not null default now(),
  counted_at timestamptz,
  primary key (domain_number, visitor_id)
);

create table visitor_counters (
  domain_number integer not null,
  visitor_id text collate "C" not null,
  period text collate "C" not null,
  bot boolean not null,
  accept_all bigint not null default 0,
  reject_all bigint not null default 0,
  custom bigint not null default 0,
  withdraw bigint not null default 0,
  primary key (domain_number, visitor_id, period, bot)
) with (fillfactor = 70);

-- Where pages of a busy day of the log begin: of the day's `records`, `newer` have this id or a newer one. A day with
-- another number of records by now has outgrown its bookmarks, and they are passed over until they are set again.
create table bookmarks (
  domain_number integer not null,
  day text collate "C" not null,
  records bigint not null,
  newer bigint not null,
  id uuid not null,
  primary key (domain_number, day, records, newer)
);

-- migrate:down

drop trigger index_large_organization on domains;
drop function index_large_organization;
drop table bookmarks, visitor_counters, busy_visitors, crawler_counters, owed_raises, counters;
