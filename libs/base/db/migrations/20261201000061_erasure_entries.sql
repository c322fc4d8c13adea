-- migrate:up

-- Which entries of logs are of which erasure, so that it can show them. Of erasures from before there are none.
create table erasure_entries (
  position bigint not null,
  domain_number integer not null,
  log integer not null,
  erasure text not null,
  -- the record that was erased
  record_id uuid not null,
  primary key (domain_number, log, position)
);
create index erasure_entries_of_erasure on erasure_entries (erasure, domain_number, log, position);

do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table erasures_to_seal add column erasure text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that erase or seal are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table erasures_to_seal drop column erasure;
drop table erasure_entries;
