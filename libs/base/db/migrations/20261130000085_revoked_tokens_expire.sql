-- migrate:up

-- When the last token with this `jti` has expired at the latest; null: nobody knows. Whoever reads an organization reads this
-- table, too.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table revoked_tokens add column expires_at timestamptz;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read revoked tokens are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table revoked_tokens drop column expires_at;
