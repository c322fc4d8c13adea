-- migrate:up

-- Archived: nothing is recorded, and everything can be read. The version grows with each change. Access tokens that were
-- issued before `tokens_since` are refused. Keys have a number for pages of a domain's keys. `organization_id`: whose act it
-- is; null for plans and for what concerns the whole installation. Whoever records or reads waits behind this for a moment
-- only, also while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      lock table domains, organizations, api_keys, administrative_acts in access exclusive mode;
      alter table domains add column archived_at timestamptz, add column version integer not null default 1;
      alter table organizations add column tokens_since timestamptz;
      alter table api_keys add column number bigint generated always as identity;
      alter table administrative_acts add column organization_id text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read domains or organizations are in the way for too long'
    using errcode = 'lock_not_available';
end $$;

-- Ids of what was deleted are never given again.
create table deleted_ids (
  id text primary key,
  deleted_at timestamptz not null default clock_timestamp()
);

-- migrate:down

drop table deleted_ids;
alter table administrative_acts drop column organization_id;
alter table api_keys drop column number;
alter table organizations drop column tokens_since;
alter table domains drop column archived_at, drop column version;
