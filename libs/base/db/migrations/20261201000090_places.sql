-- migrate:up

-- Where a decision was made, and under which model. Whoever records waits behind this for a moment only, also while a long
-- transaction reads. A facet counts objections beside choices: decisions under a model that asks nobody first.
alter type dimension add value if not exists 'region' before 'category';
alter type dimension add value if not exists 'model' before 'category';
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table facets add column objections bigint not null default 0;
      alter table records add column region text, add column model text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that read records are in the way for too long' using errcode = 'lock_not_available';
end $$;

-- migrate:down

alter table facets drop column objections;
alter table records drop column region, drop column model;
