-- migrate:up

-- The record up to which a derivation is done with one domain, and the epoch and domain to which it belongs: workers of
-- 0.1.0 move the mark without it. Others wait behind this for a moment only, also while a slice is derived.
do $$
begin
  for try in 1 .. 240 loop
    begin
      set local lock_timeout = '200ms';
      alter table derivations
        add column id_epoch integer,
        add column id_domain_number integer,
        add column id uuid;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.25);
    end;
  end loop;
  raise exception 'transactions that derive are in the way for too long' using errcode = 'lock_not_available';
end $$;

update derivations
set domain_number = added.domain_number - 1, id_epoch = added.epoch, id_domain_number = added.domain_number, id = added.id
from facet_progress as added
where derivations.name = 'facets' and derivations.epoch = added.epoch - 1
  and derivations.domain_number < added.domain_number;

-- migrate:down

alter table derivations drop column id_epoch, drop column id_domain_number, drop column id;
