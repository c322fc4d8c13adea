-- migrate:up

-- The newest record of each visitor, by the earlier of its id's time and when it was received, then by id. Nobody decides
-- after the service received it, so a clock that was ahead cannot make an older decision the newest.
--
-- `around` finds a record of the visitor's newest 16 seconds by the index of visitors. A newer one has an id between that
-- record's earlier time and the end of these seconds, and `newest` reads what is in between, from one or two months.
--
-- `around` reads the newest months first and stops at the first record: each month costs a descent of its index. It reads
-- at most 1,000 records, since anybody who has a domain's public key can store any number of ids that share a hash.
--
-- The edges are variables, and `newest` has no `id_at`, because Postgres cannot inline that function and it takes 10 µs.
-- Connections keep the plan of a function, also where no statements are prepared. The plan is generic: for an id with a
-- million records, Postgres would otherwise sort them.
create or replace function current_records(domain_ids text[], visitor_ids text[])
returns table (
  place integer, domain_number integer, valid_months integer, wanted_policy text, id uuid, decision decision,
  source source, preferences jsonb, policy_version text, model text
)
language plpgsql stable set enable_sort = off set plan_cache_mode = force_generic_plan
as $$
declare
  this_month timestamptz := date_trunc('month', now(), 'UTC');
  edges uuid[] := array[
    id_at(this_month - interval '1 month'), id_at(this_month - interval '4 months'), id_at(this_month - interval '1 year')
  ];
begin
  return query
  select wanted.place::integer, d.number, d.valid_months, d.policy_version, newest.id, newest.decision, newest.source,
    newest.preferences, newest.policy_version, newest.model
  from unnest(domain_ids, visitor_ids) with ordinality as wanted (domain_id, visitor_id, place)
  join domains d on d.id = wanted.domain_id
  left join lateral (
    select made >> 14 as last, least(made, floor(extract(epoch from received_at) * 1000)::bigint) >> 14 as first
    from (
      select records_of_span.*
      from unnest(
        edges || '00000000-0000-0000-0000-000000000000'::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid || edges
      ) as span (first_id, below)
      cross join lateral (
        select r.visitor_id, r.domain_number, r.received_at, milliseconds_of(r.id) as made
        from records r
        where hashtext(r.visitor_id) # r.domain_number = hashtext(wanted.visitor_id) # d.number
          and r.visitor_id is not null and r.id >= span.first_id and r.id < span.below
        order by (milliseconds_of(r.id) >> 14)::integer desc
      ) as records_of_span
      limit 1000
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
      and r.id >= rpad(lpad(to_hex(around.first << 14), 12, '0'), 32, '0')::uuid
      and r.id < rpad(lpad(to_hex((around.last + 1) << 14), 12, '0'), 32, '0')::uuid
    order by least(milliseconds_of(r.id), floor(extract(epoch from r.received_at) * 1000)::bigint) desc, r.id desc
    limit 1
  ) as newest on true;
end $$;

-- migrate:down

-- nothing: this function returns the same as the one before
