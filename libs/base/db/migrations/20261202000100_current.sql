-- migrate:up

-- How long a permission holds, and under which policy it must have been given; null: for good, and under any. Publishing a
-- banner sets both. Others wait behind this for a moment only, also while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      lock table domains in access exclusive mode;
      alter table domains
        add column valid_months integer check (valid_months between 1 and 120),
        add column policy_version text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read domains are in the way for too long' using errcode = 'lock_not_available';
end $$;

update domains set
  valid_months = case
    when live.settings ->> 'maxAgeMonths' ~ '^\s*[0-9]{1,3}(\.0*)?\s*$' then
      nullif((live.settings ->> 'maxAgeMonths')::numeric::integer, 0)
    else 12
  end,
  policy_version = nullif(live.settings ->> 'policyVersion', '')
from (
  select distinct on (domain_number) domain_number, settings::json as settings
  from banner_versions order by domain_number, number desc
) as live
where domains.number = live.domain_number;

-- Of each visitor the newest record, by the earlier of its id's time and when it was received, then by id. Nobody decides
-- after the service received it, so a clock that was ahead cannot make an older decision the newest.
-- A record that is newer than one of the newest 16 seconds has an id between that record's time and these seconds: `around`
-- finds one by the visitors' index, first in the months of a year and then in those before; `newest` reads what lies
-- between, in one month or two.
-- `around` looks at 1,000 records of either at most: with a domain's public key anybody can store any number of ids that share a hash.
-- A function, since its plan is kept in each connection, also where no statements are prepared. The plan is that for any
-- visitor: for this one, Postgres would sort all records of an id that a million records have.
create function current_records(domain_ids text[], visitor_ids text[])
returns table (
  place integer, domain_number integer, valid_months integer, wanted_policy text, id uuid, decision decision,
  source source, preferences jsonb, policy_version text, model text
)
language plpgsql stable set enable_sort = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select wanted.place::integer, d.number, d.valid_months, d.policy_version, newest.id, newest.decision, newest.source,
    newest.preferences, newest.policy_version, newest.model
  from unnest(domain_ids, visitor_ids) with ordinality as wanted (domain_id, visitor_id, place)
  join domains d on d.id = wanted.domain_id
  left join lateral (
    select (shared.made >> 14)::integer as last,
      (least(shared.made, floor(extract(epoch from shared.received_at) * 1000)::bigint) >> 14)::integer as first
    from (
      (
        select r.visitor_id, r.domain_number, r.received_at, milliseconds_of(r.id) as made
        from records r
        where hashtext(r.visitor_id) # r.domain_number = hashtext(wanted.visitor_id) # d.number
          and r.visitor_id is not null and r.id >= id_at(now() - interval '1 year')
        order by (milliseconds_of(r.id) >> 14)::integer desc limit 1000
      )
      union all
      (
        select r.visitor_id, r.domain_number, r.received_at, milliseconds_of(r.id) as made
        from records r
        where hashtext(r.visitor_id) # r.domain_number = hashtext(wanted.visitor_id) # d.number
          and r.visitor_id is not null and r.id < id_at(now() - interval '1 year')
        order by (milliseconds_of(r.id) >> 14)::integer desc limit 1000
      )
    ) as shared
    where shared.visitor_id = wanted.visitor_id and shared.domain_number = d.number
    limit 1
  ) as around on true
  left join lateral (
    select r.id, r.decision, r.source, r.preferences, r.policy_version, r.model
    from records r
    where hashtext(r.visitor_id) # r.domain_number = hashtext(wanted.visitor_id) # d.number
      and r.domain_number + 0 = d.number and r.visitor_id = wanted.visitor_id
      and (milliseconds_of(r.id) >> 14)::integer between around.first and around.last
      and r.id >= id_at(to_timestamp((around.first::bigint << 14) / 1000.0))
      and r.id < id_at(to_timestamp((around.last + 1::bigint << 14) / 1000.0))
    order by least(milliseconds_of(r.id), floor(extract(epoch from r.received_at) * 1000)::bigint) desc, r.id desc
    limit 1
  ) as newest on true;
end $$;

-- migrate:down

drop function current_records;
alter table domains drop column valid_months, drop column policy_version;
