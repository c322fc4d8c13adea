-- migrate:up

-- Tasks that one process at a time runs. `housekeeping_tasks` stays for the workers of the release before.
create table tasks (
  name text primary key,
  -- infinity: somebody is at it, and nobody has told it to come again
  due_at timestamptz not null default clock_timestamp(),
  -- the process that is at it
  holder uuid,
  leased_until timestamptz,
  -- the last success, or when the task was first scheduled
  succeeded_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- migrate:down

drop table tasks;
