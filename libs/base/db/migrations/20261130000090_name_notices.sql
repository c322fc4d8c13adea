-- migrate:up

-- The numbers of notices that records name: marks their rows as named, and makes those that are not there. `wanted`: rows
-- of `domainId` and `notice`, its hash in hex. In order, so that two batches wait for each other in one direction and cannot
-- deadlock.
create function name_notices(wanted json) returns table (domain_id text, notice text, number integer)
language sql as $$
  with wanted as materialized (
    select d.id as domain_id, d.number as domain_number, decode(w.notice, 'hex') as hash
    from json_to_recordset(wanted) as w ("domainId" text, notice text)
    join domains d on d.id = w."domainId"
  ),
  found as materialized (
    select n.number, domain_number, hash from wanted join notices n using (domain_number, hash)
    where n.named_at is not null
  ),
  named as (
    insert into notices as n (domain_number, hash, named_at)
    select domain_number, hash, clock_timestamp() from wanted
    where not exists (
      select from found where found.domain_number = wanted.domain_number and found.hash = wanted.hash
    )
    order by 1, 2
    on conflict (domain_number, hash) do update set named_at = coalesce(n.named_at, excluded.named_at)
    returning n.number, n.domain_number, n.hash
  )
  select w.domain_id, encode(w.hash, 'hex'), each.number
  from (select * from found union all select * from named) as each join wanted w using (domain_number, hash)
$$;

-- migrate:down

drop function name_notices;
