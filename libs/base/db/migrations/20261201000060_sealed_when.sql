-- migrate:up

-- Up to which position of a run what was sealed when: position and milliseconds, each followed by a space. Runs from before
-- have none.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table log_runs add column sealed text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that seal are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table log_runs drop column sealed;
