-- migrate:up

-- What was answered to requests with an Idempotency-Key: it is answered again for a day.
create table idempotent_answers (
  organization_number integer not null,
  -- of the token's subject, method, path and key, under the organization's own key
  request bytea not null,
  -- of the body, likewise
  body bytea not null,
  -- a JSON object; encrypted, if there is a secret in it
  answer bytea not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (organization_number, request)
);
create index idempotent_answers_made on idempotent_answers (made_at);

-- migrate:down

drop table idempotent_answers;
