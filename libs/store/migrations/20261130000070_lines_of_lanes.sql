-- migrate:up

-- Lanes that are due stand in a line, so that to take some of them costs what is due, however many wait for their next try.
-- null: not due, as far as anyone has looked; 1: due; 2: due, of a webhook that fails
alter table webhook_lanes add column line smallint;
-- its number, once the lane has been due
alter table webhook_lanes add column organization integer;
create index webhook_lanes_in_line on webhook_lanes (line, organization, webhook, due_at) where line is not null;
create index webhook_lanes_to_come on webhook_lanes (due_at) where line is null and due_at < 'infinity';
drop index webhook_lanes_turns, webhook_lanes_due;

-- Where the messages go: to one receiver may go those of several webhooks.
alter table webhooks add column receiver text not null generated always as (lower(substring(url from '^[^/]*//[^/?#]*'))) stored;
-- the last try had no answer in time
alter table webhooks add column timed_out boolean not null default false;
create index webhooks_timed_out on webhooks (organization_id, receiver) where timed_out;

-- migrate:down

drop index webhooks_timed_out;
alter table webhooks drop column timed_out, drop column receiver;
drop index webhook_lanes_to_come, webhook_lanes_in_line;
alter table webhook_lanes drop column organization, drop column line;
create index webhook_lanes_due on webhook_lanes (webhook, due_at) where due_at < 'infinity';
create index webhook_lanes_turns on webhook_lanes (webhook, (tries > 0), due_at) where due_at < 'infinity';
