-- migrate:up

-- Which webhooks were told that a domain is silent: once for each last record.
create table webhook_silences (
  webhook integer not null,
  domain_number integer not null,
  last_record_at timestamptz not null,
  primary key (webhook, domain_number)
);

-- Whoever writes to webhooks waits behind this for a moment only.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table webhook_silences add foreign key (webhook) references webhooks (number) on delete cascade;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that use webhooks are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

drop table webhook_silences;
