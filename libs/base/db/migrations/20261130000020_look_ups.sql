-- migrate:up

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

-- migrate:down

alter table rejected_records drop column searched_at;
alter table tombstones drop column rejected_searched_at;
