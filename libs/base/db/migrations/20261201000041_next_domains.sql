-- migrate:up

-- As before, but planned once a connection: a function in SQL is planned at each call, over all months.
create or replace function next_domains(wanted_epoch integer, after integer, wanted integer)
returns table (domain_number integer, records integer)
language plpgsql stable parallel safe
set enable_bitmapscan = off
set enable_seqscan = off
set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
    select domain_number, count(*)::integer
    from (
      select r.domain_number from records r where r.epoch = wanted_epoch and r.domain_number > after
      order by r.epoch, r.domain_number limit wanted
    ) as next
    group by domain_number order by domain_number;
end $$;

-- migrate:down

create or replace function next_domains(wanted_epoch integer, after integer, wanted integer)
returns table (domain_number integer, records integer)
language sql stable parallel safe
set enable_bitmapscan = off
set enable_seqscan = off
set enable_sort = off
as $$
  select domain_number, count(*)::integer
  from (
    select r.domain_number from records r where r.epoch = wanted_epoch and r.domain_number > after
    order by r.epoch, r.domain_number limit wanted
  ) as next
  group by domain_number order by domain_number
$$;
