-- migrate:up transaction:false

-- Lanes in the order of their turns: those that failed before are taken apart from the others.
create index concurrently if not exists webhook_lanes_turns on webhook_lanes (webhook, (tries > 0), due_at)
  where due_at < 'infinity';

-- migrate:down

drop index webhook_lanes_turns;
