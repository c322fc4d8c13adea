-- migrate:up

-- The hashes of what published banners show first, in every language: none of them is a stranger's.
create table expected_notices (
  domain_number integer not null,
  hash bytea not null check (length(hash) = 32),
  primary key (domain_number, hash)
);

-- As before, but an expected one has no bound, and counts as named: it is kept for good, also before a record names it.
create or replace function put_notice(
  of_domain text, of_hash bytea, given bytea, of_language text, of_version text, bound integer
) returns text
language plpgsql as $$
declare
  of_number integer := (select number from domains where id = of_domain);
  own integer;
  named bigint;
  is_held boolean;
  is_expected boolean;
  today date;
  midnight timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('assent.put_notice'), of_number);
  is_expected := exists (select from expected_notices where domain_number = of_number and hash = of_hash);
  if is_expected then
    bound := null;
  end if;
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
  insert into notices as n (domain_number, hash, document, language, version, documented_at, kept_at, named_at)
  values (
    of_number, of_hash, given, of_language, of_version, clock_timestamp(),
    case when bound is null then clock_timestamp() end, case when is_expected then clock_timestamp() end
  )
  on conflict (domain_number, hash) do update set
    document = excluded.document, language = excluded.language, version = excluded.version,
    documented_at = excluded.documented_at, dropped_at = null, kept_at = excluded.kept_at,
    named_at = coalesce(n.named_at, excluded.named_at);
  return 'new';
end $$;

-- migrate:down

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
drop table expected_notices;
