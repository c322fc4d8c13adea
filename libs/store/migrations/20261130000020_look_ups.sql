-- migrate:up

-- What is erased is looked up by the visitors at hand, so that it costs the same however many were erased before.
create index tombstones_by_hash on tombstones (hash);
create index tombstones_by_epoch on tombstones (epoch);
create index tombstones_by_end on tombstones (until);
create index tombstones_untold on tombstones (hash) where remembered_at is null;
create index tombstones_unsearched on tombstones (hash) where searched_at is null;

-- When rejected records were searched for a tombstone's visitor, and when tombstones were looked up for a rejected record:
-- a new one of either kind is held against all of the other, once. The records that are there now count as new.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table tombstones add column rejected_searched_at timestamptz default now();
      alter table tombstones alter column rejected_searched_at drop default;
      alter table rejected_records add column searched_at timestamptz;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read tombstones or rejected records are in the way for too long'
    using errcode = 'lock_not_available';
end $$;
create index tombstones_unsearched_in_rejected on tombstones (hash) where rejected_searched_at is null;
create index rejected_records_unsearched on rejected_records (id) where searched_at is null;

-- migrate:down

alter table rejected_records drop column searched_at;
alter table tombstones drop column rejected_searched_at;
drop index tombstones_unsearched, tombstones_untold, tombstones_by_end, tombstones_by_epoch, tombstones_by_hash;
