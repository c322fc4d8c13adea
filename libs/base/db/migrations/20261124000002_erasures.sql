-- migrate:up

-- when its personal fields were taken out of it
alter table records add column erased_at timestamptz;

-- through which epoch its records have lost their personal fields by PERSONAL_RETENTION_MONTHS
alter table record_months add column blanked_through integer not null default 0;

-- A visitor who was erased, by a hash under PRIVACY_KEY: what comes of them later loses its personal fields as soon as its
-- epoch is closed.
create table tombstones (
  hash bytea not null,
  organization_number integer not null,
  -- 0: all domains of the organization
  domain_number integer not null,
  -- the epoch that was open: records of earlier ones were there when their rows were erased
  epoch integer not null,
  erased_at timestamptz not null default clock_timestamp(),
  until timestamptz not null,
  -- Redis remembers it as well, for after a restore
  remembered_at timestamptz,
  -- queues and rejected records were searched for what waited there
  searched_at timestamptz,
  primary key (organization_number, domain_number, hash)
);

create table erasures (
  id text primary key,
  organization_number integer not null,
  domain_number integer not null,
  hash bytea not null,
  -- until it is done
  visitor_id text,
  records bigint not null default 0,
  began_at timestamptz not null default clock_timestamp(),
  moved_at timestamptz not null default clock_timestamp(),
  done_at timestamptz
);
create index erasures_running on erasures (began_at) where done_at is null;

-- erased records that have a place in a log or may get one: their erasure becomes an entry of it
create table erasures_to_seal (
  domain_number integer not null,
  record_id uuid not null,
  epoch integer not null,
  erased_on date not null,
  primary key (domain_number, record_id)
);

-- What the entries of erased records commit to, 32 bytes, since it cannot be made again. Of such a record the secret in
-- its run is the salt of `circumstances`.
create table erased_commitments (
  position bigint not null,
  domain_number integer not null,
  log integer not null,
  private bytea not null,
  primary key (domain_number, log, position)
);

-- Who read or erased a visitor's records, by the visitor's hash. Not in administrative_acts: its writers wait for each
-- other, and every process reads it twice a second.
create table visitor_acts (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  organization_number integer not null,
  -- 0: all domains of the organization
  domain_number integer not null,
  actor text not null,
  act text not null,
  -- null without PRIVACY_KEY
  hash bytea,
  erasure_id text
);
create index visitor_acts_of_organization on visitor_acts (organization_number, id);

-- of erased records: a text that no other record names goes, too
create table user_agents_to_look_for (
  number integer primary key,
  noted_at timestamptz not null default clock_timestamp()
);

-- Postgres keeps sample values of columns for its planner, also of rows that are gone. Visitors are found by an index, whose
-- statistics are of hashes.
create function forget_samples(relation regclass, variadic columns text[]) returns void
language plpgsql as $$
declare
  name text;
begin
  foreach name in array columns loop
    execute format('alter table %s alter %I set statistics 0', relation, name);
    begin
      delete from pg_statistic using pg_attribute as a
      where starelid = relation and a.attrelid = relation and a.attname = name and staattnum = a.attnum;
    exception when insufficient_privilege then
      -- only a superuser may, or from Postgres 18 on the owner
      if to_regprocedure('pg_clear_attribute_stats(text,text,text,boolean)') is not null then
        execute format(
          'select pg_clear_attribute_stats(n.nspname::text, c.relname::text, %L, inherited)
           from pg_class c join pg_namespace n on n.oid = relnamespace
           cross join (values (true), (false)) as i (inherited) where c.oid = %L::regclass', name, relation);
      end if;
    end;
  end loop;
end $$;

-- with the partitions that are there
select forget_samples(relid, 'visitor_id', 'ip', 'user_agent_number', 'page_url', 'metadata')
from pg_partition_tree('records') order by level;
select forget_samples('busy_visitors', 'visitor_id'), forget_samples('visitor_counters', 'visitor_id'),
  forget_samples('rejected_records', 'record', 'error'), forget_samples('erasures', 'visitor_id'),
  forget_samples('user_agents', 'text');

-- as before, and of what is personal the new month keeps no samples either
create or replace function make_record_month(wanted text) returns boolean
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
  perform forget_samples(partition::regclass, 'visitor_id', 'ip', 'user_agent_number', 'page_url', 'metadata');
  execute format(
    'alter table records attach partition %I for values from (%L) to (%L)', partition, id_at(first), id_at(next));
  insert into record_months (month) values (wanted);
  return true;
end $$;

-- migrate:down

create or replace function make_record_month(wanted text) returns boolean
language plpgsql as $$
declare
  partition text := 'records_' || replace(wanted, '-', '_');
  first timestamptz := (wanted || '-01')::timestamp at time zone 'UTC';
  next timestamptz := ((wanted || '-01')::timestamp + interval '1 month') at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtext('assent.make_record_month'));
  if exists (select from record_months where month = wanted and dropped_at is not null) then
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
drop function forget_samples;
drop table user_agents_to_look_for, visitor_acts, erased_commitments, erasures_to_seal, erasures, tombstones;
alter table record_months drop column blanked_through;
alter table records drop column erased_at;
