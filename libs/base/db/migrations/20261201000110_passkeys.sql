-- migrate:up

-- Others wait behind this for a moment only, also while a long transaction reads.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      lock table people in access exclusive mode;
      alter table people
        -- the password is kept, but nobody signs in with it
        add column password_off boolean not null default false,
        -- how passkeys identify the person (the user handle of WebAuthn): random, in base64url
        add column user_handle text not null
          default translate(encode(uuid_send(gen_random_uuid()), 'base64'), '+/=', '-_');
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read people are in the way for too long' using errcode = 'lock_not_available';
end $$;

create table person_passkeys (
  number bigint generated always as identity primary key,
  id text not null unique,
  person_number bigint not null references people (number) on delete cascade,
  name text not null,
  -- in base64url, as WebAuthn sends it
  credential_id text not null unique,
  -- as COSE
  public_key bytea not null,
  -- the authenticator's signature counter; 0 if it has none
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  last_used_at timestamptz
);
create index person_passkeys_by_person on person_passkeys (person_number);

-- Challenges that were used: each is accepted once. They are valid for two minutes, and kept for an hour.
create table used_challenges (
  nonce bytea primary key,
  used_at timestamptz not null default clock_timestamp()
);

-- migrate:down

drop table used_challenges, person_passkeys;
alter table people drop column password_off, drop column user_handle;
