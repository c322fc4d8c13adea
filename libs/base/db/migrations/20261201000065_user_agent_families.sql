-- migrate:up

-- What an erased record keeps of its user agent: the number of a family, by which it stays in the statistics of devices and
-- browsers. Whoever records waits behind this for a moment only, also while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table records add column user_agent_family integer;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read records are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table records drop column user_agent_family;
