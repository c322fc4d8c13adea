-- migrate:up

create table webhooks (
  number integer generated always as identity primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  url text not null,
  types text[] not null,
  -- null: all
  domains text[],
  decisions text[],
  enabled boolean not null default true,
  -- encrypted under SECRETS_KEY; the one before signs as well for a day
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  -- grows with each change
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  last_delivered_at timestamptz,
  failing_since timestamptz,
  -- YYYY-MM: the last month whose limit it was told of
  approaching_in text,
  reached_in text
) with (fillfactor = 70);
create index webhooks_of_organization on webhooks (organization_id, number);

-- What is delivered one after another: what a domain's log has for a webhook, or a single message.
create table webhook_lanes (
  number bigint generated always as identity primary key,
  webhook integer not null references webhooks (number) on delete cascade,
  type text not null,
  -- null for a single message
  domain_number integer,
  -- delivered up to here, not included
  log integer,
  position bigint,
  -- the message under way: the same for every try
  message_id text,
  made_at timestamptz,
  through bigint,
  -- of a single message
  data jsonb,
  tries integer not null default 0,
  -- infinity: nothing is left to deliver, or the webhook is disabled
  due_at timestamptz not null default clock_timestamp(),
  -- whoever delivers it; a worker that was killed leaves it to the others
  claimed_by uuid,
  claimed_until timestamptz
) with (fillfactor = 70);
create unique index webhook_lanes_of_webhook on webhook_lanes (webhook, type, domain_number);
create index webhook_lanes_of_domain on webhook_lanes (domain_number);
create index webhook_lanes_due on webhook_lanes (webhook, due_at) where due_at < 'infinity';
-- one that waits is enough
create unique index webhook_tests on webhook_lanes (webhook) where type = 'webhook.test';

-- Every try of the last 30 days; never what was sent or answered.
create table webhook_deliveries (
  number bigint generated always as identity primary key,
  webhook integer not null references webhooks (number) on delete cascade,
  message_id text not null,
  type text not null,
  domain_number integer,
  log integer,
  first bigint,
  size bigint,
  attempt integer not null,
  at timestamptz not null,
  milliseconds integer not null,
  -- null: delivered
  failure text,
  status integer,
  next_try_at timestamptz
);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook, number);
create index webhook_deliveries_by_time on webhook_deliveries (at);

-- migrate:down

drop table webhook_deliveries, webhook_lanes, webhooks;
