-- migrate:up

-- The user agents of `user_agents_to_look_for` for which a look is under way, as they were noted when it began: one that is
-- noted again meanwhile, or whose note was not there yet, belongs to the next look.
create table user_agents_looked_for (
  number integer primary key,
  noted_at timestamptz not null
);

-- How far that look is; no row where none is under way.
create table user_agent_look (
  single boolean primary key default true check (single),
  -- stored from here on: epochs that are looked at one by one, after the months
  since integer not null,
  -- the month that is looked at, null once all are; and behind which record, or in an epoch behind which domain
  month text,
  domain_number integer not null,
  id uuid not null
);

-- migrate:down

drop table user_agent_look, user_agents_looked_for;
