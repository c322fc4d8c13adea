-- migrate:up

-- How many records, crawlers' not counted, name a notice on a UTC day: the day on which they were counted, since whoever
-- records chooses the time of a decision. Without those that are kept for good.
create table notice_days (
  domain_number integer not null,
  day date not null,
  -- 0: all notices of the domain
  notice_number integer not null,
  records bigint not null,
  primary key (domain_number, notice_number, day)
);
create index notice_days_by_day on notice_days (day);

-- Since when a document is kept for good: whoever manages the domain put it, or enough records named it for 30 days.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table notices add column kept_at timestamptz;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that use notices are in the way for too long' using errcode = 'lock_not_available';
end $$;

create function named_since(of_domain_number integer, of_notice_number integer, since date) returns bigint
language sql stable
return (
  select coalesce(sum(records), 0)::bigint from notice_days
  where domain_number = of_domain_number and notice_number = of_notice_number and day >= since
);

-- Keeps a document under its hash: 'new', 'known', 'kept' where it was known and is kept for good from now on, or 'full':
-- the domain has had `bound` new ones today (UTC), and none of them is named by fewer records of today and yesterday than
-- this one, which would make room. `bound` null: whoever manages the domain puts it, without a bound and for good. One
-- process at a time for a domain, so that the bound holds; in one call, so that none that is frozen keeps the others
-- waiting.
create or replace function put_notice(
  of_domain text, of_hash bytea, given bytea, of_language text, of_version text, bound integer
) returns text
language plpgsql as $$
declare
  of_number integer := (select number from domains where id = of_domain);
  own integer;
  named bigint;
  is_held boolean;
  today date;
  midnight timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('assent.put_notice'), of_number);
  select number, documented_at is not null into own, is_held
  from notices where domain_number = of_number and hash = of_hash;
  if is_held then
    update notices set kept_at = clock_timestamp() where number = own and bound is null and kept_at is null;
    return case when found then 'kept' else 'known' end;
  end if;
  today := (clock_timestamp() at time zone 'UTC')::date;
  midnight := today::timestamp at time zone 'UTC';
  if bound <= (
    select count(*) from notices where domain_number = of_number and documented_at >= midnight and kept_at is null
  ) then
    -- before any other row, so that whoever waits here holds none
    perform from notices where number = own for update;
    named := named_since(of_number, own, today - 1);
    if named = 0 then
      return 'full';
    end if;
    update notices
    set document = null, language = null, version = null, documented_at = null, dropped_at = clock_timestamp()
    where number = (
      select number from notices
      where domain_number = of_number and documented_at >= midnight and kept_at is null
        and named_since(of_number, number, today - 1) < named
      order by named_since(of_number, number, today - 1), number desc
      limit 1 for update skip locked
    );
    if not found then
      return 'full';
    end if;
  end if;
  insert into notices as n (domain_number, hash, document, language, version, documented_at, kept_at)
  values (
    of_number, of_hash, given, of_language, of_version, clock_timestamp(),
    case when bound is null then clock_timestamp() end
  )
  on conflict (domain_number, hash) do update set
    document = excluded.document, language = excluded.language, version = excluded.version,
    documented_at = excluded.documented_at, dropped_at = null, kept_at = excluded.kept_at;
  return 'new';
end $$;

-- migrate:down

create or replace function put_notice(
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
drop function named_since;
alter table notices drop column kept_at;
drop table notice_days;
