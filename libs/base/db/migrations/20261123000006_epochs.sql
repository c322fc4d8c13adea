-- migrate:up

-- An epoch is a closed set of stored records, from which things are derived once. This is the number of the open one.
create table epochs (
  single boolean primary key default true check (single),
  open integer not null
);
insert into epochs (open) values (1);

-- when each was closed, for as long as something is still derived from it
create table closed_epochs (
  epoch integer primary key,
  closed_at timestamptz not null default clock_timestamp()
);

-- The epoch that records are stored under, for a transaction that stores some. It stays open until that transaction ends,
-- since whoever closes it waits for the lock. The number has to be read after the lock is held, by a query of its own:
-- only in a volatile function does that query see what was committed meanwhile, and only at this isolation.
create function open_epoch() returns integer
language plpgsql volatile as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'records are stored under read committed, not %', current_setting('transaction_isolation')
      using errcode = '25001';
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('assent.epoch'));
  return (select open from epochs);
end $$;

-- How far each derivation is: done with `epoch`, and in the one after it with the domains up to `domain_number`.
create table derivations (
  name text primary key,
  epoch integer not null default 0,
  domain_number integer not null default 0
);

-- migrate:down

drop table derivations;
drop function open_epoch;
drop table closed_epochs, epochs;
