-- migrate:up

create type decision as enum ('accept_all', 'reject_all', 'custom', 'withdraw');
create type source as enum ('banner', 'preferences', 'gpc', 'api', 'import');

-- the smallest id of a time: the bounds of days and months are ids
create function id_at(moment timestamptz) returns uuid
language sql immutable strict parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

create function milliseconds_of(id uuid) returns bigint
language sql immutable strict parallel safe
return ('x' || translate(substr(id::text, 1, 13), '-', ''))::bit(48)::bigint;

-- primary key first by domain: a page of a domain's log is one range of it, and a sharded Postgres can hold it
create table records (
  domain_id text not null,
  id uuid not null,
  organization_id text not null,
  decision decision not null,
  received_at timestamptz not null,
  source source not null,
  gpc boolean,
  visitor_id text,
  preferences jsonb,
  banner_version text,
  policy_version text,
  language text,
  page_url text,
  country text,
  ip text,
  user_agent text,
  tc_string text,
  gpp_string text,
  metadata jsonb,
  primary key (domain_id, id)
) partition by range (id);

-- newest records of an organization
create index records_by_organization on records (organization_id, id);
-- one visitor's history
create index records_by_visitor on records (domain_id, visitor_id, id) where visitor_id is not null;

-- months that have a partition, and those whose partition retention dropped: the log reaches back to the first that
-- is not dropped
create table record_months (
  month text primary key check (month ~ '^\d{4}-\d{2}$'),
  created_at timestamptz not null default now(),
  dropped_at timestamptz
);

-- Makes one month's partition, once, however many ask. ATTACH lets reads and inserts go on.
create function make_record_month(wanted text) returns boolean
language plpgsql as $$
declare
  partition text := 'records_' || replace(wanted, '-', '_');
  first timestamptz := (wanted || '-01')::timestamp at time zone 'UTC';
  next timestamptz := ((wanted || '-01')::timestamp + interval '1 month') at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtext('assent.make_record_month'));
  if exists (select from record_months where month = wanted and dropped_at is not null) then
    -- a data error, so that the late record is rejected and kept, not counted among those that are gone
    raise exception 'the records of % are past their retention', wanted using errcode = '22008';
  end if;
  if exists (select from record_months where month = wanted) then
    return false;
  end if;
  execute format('create table %I (like records including defaults including constraints)', partition);
  execute format(
    'alter table records attach partition %I for values from (%L) to (%L)', partition, id_at(first), id_at(next));
  insert into record_months (month) values (wanted);
  return true;
end $$;

select make_record_month(to_char(date_trunc('month', now() at time zone 'UTC') + n * interval '1 month', 'YYYY-MM'))
from generate_series(-1, 2) as n;

-- what Postgres would not store, with its error: nothing is dropped
create table rejected_records (
  id bigint generated always as identity primary key,
  rejected_at timestamptz not null default now(),
  error_code text not null,
  error text not null,
  record text not null
);

-- migrate:down

drop table rejected_records, record_months, records;
drop function make_record_month, milliseconds_of, id_at;
drop type source, decision;
