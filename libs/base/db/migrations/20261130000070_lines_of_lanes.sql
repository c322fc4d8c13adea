-- migrate:up

-- Lanes that are due stand in a line, so that to take some of them costs what is due, however many wait for their next try.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table webhook_lanes
        -- null: not due, as far as anyone has looked; 1: due; 2: due, of a webhook that fails
        add column line smallint,
        -- its number, once the lane has been due
        add column organization integer;
      drop index webhook_lanes_turns, webhook_lanes_due;
      alter table webhooks
        -- where the messages go: to one receiver may go those of several webhooks
        add column receiver text not null generated always as (lower(substring(url from '^[^/]*//[^/?#]*'))) stored,
        -- the last try had no answer in time
        add column timed_out boolean not null default false;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that use webhooks are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table webhooks drop column timed_out, drop column receiver;
alter table webhook_lanes drop column organization, drop column line;
create index webhook_lanes_due on webhook_lanes (webhook, due_at) where due_at < 'infinity';
create index webhook_lanes_turns on webhook_lanes (webhook, (tries > 0), due_at) where due_at < 'infinity';
