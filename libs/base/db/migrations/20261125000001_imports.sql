-- migrate:up

-- When a record was imported: null for all that were recorded. Whoever records waits behind this for a moment only, also
-- while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table records add column imported_at timestamptz;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read records are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table records drop column imported_at;
