-- migrate:up

-- A lock of the table waits for whoever vacuums it, and for as long as an index of it is built.
create or replace function lock_administrative_acts() returns void
language sql as $$
  select pg_advisory_xact_lock(hashtext('assent.administrative_acts'))
$$;

-- migrate:down

create or replace function lock_administrative_acts() returns void
language sql as $$
  lock table administrative_acts in share row exclusive mode
$$;
