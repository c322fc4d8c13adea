-- migrate:up

-- What cannot be undone waits until that many hourly rounds have found it due: dropping a month, and blanking its personal
-- fields by age. The times are of the round that counted last, null while the month is not due. Whoever reads the log waits
-- behind this for a moment only, also while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table record_months
        add column drop_rounds integer not null default 0, add column drop_round_at timestamptz,
        add column blank_rounds integer not null default 0, add column blank_round_at timestamptz;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read record_months are in the way for too long'
    using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table record_months
  drop column blank_round_at, drop column blank_rounds, drop column drop_round_at, drop column drop_rounds;
