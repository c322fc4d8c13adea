-- migrate:up

-- How large a message may be, and what else is sent with it.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table webhooks
        -- bytes of a message
        add column max_bytes integer not null default 65536,
        -- sent with each message: a JSON object, encrypted as the secret is, and the names in it
        add column headers bytea,
        add column header_names text[] not null default '{}';
      alter table webhook_lanes
        -- entries in one message, where the receiver took no more; null: as many as there may be
        add column at_most integer;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that use webhooks are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table webhook_lanes drop column at_most;
alter table webhooks drop column header_names, drop column headers, drop column max_bytes;
