-- migrate:up

-- Access tokens that were ended one by one, by their `jti`.
create table revoked_tokens (
  organization_number integer not null,
  jti text not null,
  revoked_at timestamptz not null default clock_timestamp(),
  primary key (organization_number, jti)
);

-- migrate:down

drop table revoked_tokens;
