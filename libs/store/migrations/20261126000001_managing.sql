-- migrate:up

-- Archived: nothing is recorded, and everything can be read. The version grows with each change.
alter table domains add column archived_at timestamptz, add column version integer not null default 1;

-- Access tokens that were issued before are refused.
alter table organizations add column tokens_since timestamptz;

-- for pages of a domain's keys
alter table api_keys add column number bigint generated always as identity;

-- Whose act it is; null for plans and for what concerns the whole installation.
alter table administrative_acts add column organization_id text;
update administrative_acts a
set organization_id = coalesce(
  details ->> 'organizationId',
  (select o.id from organizations o where o.id = a.subject and a.act like 'org.%'),
  (select d.organization_id from domains d where d.id in (a.details ->> 'domainId', a.subject) limit 1)
)
where act not like 'plan.%';
create index administrative_acts_of_organization on administrative_acts (organization_id, id);

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
