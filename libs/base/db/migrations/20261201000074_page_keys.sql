-- migrate:up

-- The key that a domain's published banner contains: every visitor can read it, so it is stored as it is. Null: any other.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table api_keys add column page_key text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read api_keys are in the way for too long' using errcode = 'lock_not_available';
end $$;
create unique index api_keys_of_pages on api_keys (domain_id) where page_key is not null and revoked_at is null;

-- migrate:down

alter table api_keys drop column page_key;
