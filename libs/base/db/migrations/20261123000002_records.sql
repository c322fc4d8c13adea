-- migrate:up

create type decision as enum ('accept_all', 'reject_all', 'custom', 'withdraw');
create type source as enum ('banner', 'preferences', 'gpc', 'api', 'import');

-- the smallest id of a time: the bounds of days and months are ids
create function id_at(moment timestamptz) returns uuid
language sql immutable strict parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

create function milliseconds_of(id uuid) returns bigint
language sql immutable strict parallel safe
return ('x' || encode(substr(uuid_send(id), 1, 6), 'hex'))::bit(48)::bigint;

-- Primary key first by domain: a page of a domain's log is one range of it, and a sharded Postgres can hold it.
-- Columns by size, so that none is padded. Other indexes are in record-indexes.ts.
create table records (
  received_at timestamptz not null,
  id uuid not null,
  domain_number integer not null,
  -- of large organizations only
  organization_number integer,
  user_agent_number integer,
  -- in which it was stored: what is derived from records is derived epoch by epoch
  epoch integer not null,
  decision decision not null,
  source source not null,
  bot boolean not null,
  gpc boolean,
  visitor_id text,
  preferences jsonb,
  banner_version text,
  policy_version text,
  language text,
  page_url text,
  country text,
  ip text,
  tc_string text,
  gpp_string text,
  metadata jsonb,
  primary key (domain_number, id)
) partition by range (id);

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

create function record_hash(record text) returns bytea
language sql immutable strict parallel safe
return sha256(convert_to(record, 'UTF8'));

-- what Postgres would not store, with its error: nothing is dropped
create table rejected_records (
  id bigint generated always as identity primary key,
  rejected_at timestamptz not null default now(),
  error_code text not null,
  error text not null,
  record text not null
);
-- A record is listed once, however often it is delivered. Its own text may be too long for an index.
create unique index rejected_records_once on rejected_records (record_hash(record));

-- migrate:down

drop table rejected_records, record_months, records;
drop function record_hash, make_record_month, milliseconds_of, id_at;
drop type source, decision;
