-- migrate:up

-- Whoever writes acts holds the lock to the commit, so that ids become visible in order. It takes the right to change or
-- delete rows of the table, which writers need for nothing else: the function has its owner's.
create function lock_administrative_acts() returns void
language sql as $$
  lock table administrative_acts in share row exclusive mode
$$;

-- migrate:down

drop function lock_administrative_acts;
