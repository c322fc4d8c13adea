-- migrate:up

-- Tasks of housekeeping that are scheduled. Any worker may run one, so no worker alone knows when it last succeeded.
create table housekeeping_tasks (
  task text primary key,
  -- the last success, or when the task was first scheduled
  succeeded_at timestamptz not null default clock_timestamp()
);

-- migrate:down

drop table housekeeping_tasks;
