-- migrate:up

-- Apart from the columns, whose lock would last as long: whoever reads waits for none of this.
update administrative_acts a
set organization_id = coalesce(
  details ->> 'organizationId',
  (select o.id from organizations o where o.id = a.subject and a.act like 'org.%'),
  (select d.organization_id from domains d where d.id in (a.details ->> 'domainId', a.subject) limit 1)
)
where act not like 'plan.%' and organization_id is null;
create index if not exists administrative_acts_of_organization on administrative_acts (organization_id, id);

-- migrate:down

drop index administrative_acts_of_organization;
