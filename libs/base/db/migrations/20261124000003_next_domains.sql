-- migrate:up

-- The domains after `after` that have records in an epoch, in order, and how many, of at most `wanted` records in all.
-- By the index alone: of an epoch that is new the planner expects a handful of records, and would read and sort all of
-- them for each piece.
create function next_domains(wanted_epoch integer, after integer, wanted integer)
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

-- migrate:down

drop function next_domains;
