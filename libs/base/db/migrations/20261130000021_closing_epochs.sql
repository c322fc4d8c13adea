-- migrate:up

-- The number that is stamped while the open epoch is about to be closed: the next one. So whoever stores records never
-- waits behind whoever closes. Null until a process of this release has closed an epoch.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table epochs add column filling integer;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that store records are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- The epoch that records are stored under, for a transaction that stores some. It stays open until that transaction ends,
-- since whoever closes it waits for the lock of its number. That is held before the number is read once more: if it is
-- another by then, the one before may be closed already. Each query sees what was committed meanwhile, in a volatile
-- function and at this isolation. Processes of 0.1.0 close epochs with the first lock, which shuts out all others.
create or replace function open_epoch() returns integer
language plpgsql volatile as $$
declare
  epoch integer;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'records are stored under read committed, not %', current_setting('transaction_isolation')
      using errcode = '25001';
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('assent.epoch'));
  loop
    epoch := (select greatest(open, filling) from epochs);
    if pg_try_advisory_xact_lock_shared(hashtext('assent.epoch'), epoch)
      and epoch = (select greatest(open, filling) from epochs) then
      return epoch;
    end if;
  end loop;
end $$;

-- migrate:down

create or replace function open_epoch() returns integer
language plpgsql volatile as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'records are stored under read committed, not %', current_setting('transaction_isolation')
      using errcode = '25001';
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('assent.epoch'));
  return (select open from epochs);
end $$;
alter table epochs drop column filling;
