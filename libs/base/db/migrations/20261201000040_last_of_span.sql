-- migrate:up

-- The last epoch of those from `first` to `through` that have no more than `wanted` records together; the one before
-- `first` where that alone has more. By the index alone, as next_domains.
create function last_of_span(first integer, through integer, wanted integer) returns integer
language plpgsql stable parallel safe
set enable_bitmapscan = off
set enable_seqscan = off
set enable_sort = off
as $$
begin
  return (
    select case when count(*) > wanted then max(epoch) - 1 else through end
    from (
      select r.epoch from records r where r.epoch between first and through order by r.epoch limit wanted + 1
    ) as next
  );
end $$;

-- migrate:down

drop function last_of_span;
