-- migrate:up

-- A dump may be restored into the same database: the tables are others then. Empty: not noted yet.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table log_server add column table_oid text not null default '';
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read log_server are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table log_server drop column table_oid;
