-- migrate:up

create index webhook_lanes_in_line on webhook_lanes (line, organization, webhook, due_at) where line is not null;
create index webhook_lanes_to_come on webhook_lanes (due_at) where line is null and due_at < 'infinity';
create index webhooks_timed_out on webhooks (organization_id, receiver) where timed_out;

-- migrate:down

drop index webhooks_timed_out, webhook_lanes_to_come, webhook_lanes_in_line;
