-- migrate:up

-- The texts by which browsers name themselves, each once, with what was found in it. A family stands for texts that were
-- not kept.
create table user_agents (
  number integer generated always as identity primary key,
  -- whose record brought it, and on which UTC day, since new ones are bounded by both; a family has no domain
  domain_number integer,
  added_on date not null,
  is_family boolean not null,
  crawler boolean not null,
  device text,
  browser text,
  system text,
  text text collate "C" not null,
  unique (text, is_family)
);
create index user_agents_by_domain on user_agents (domain_number, added_on);

-- the months whose records name it: a text goes with the last of them
create table user_agent_months (
  number integer references user_agents (number),
  month text collate "C",
  primary key (number, month)
);
create index user_agent_months_by_month on user_agent_months (month);

-- Adds texts that are not there yet, as far as `bound` allows for a domain and day, and returns the domains that have
-- used it up. A text may be wanted by several domains. One process at a time, so that the bound holds; in one call, so
-- that none that is frozen keeps the others waiting.
create function add_user_agents(wanted json, bound integer) returns setof text
language plpgsql as $$
declare
  today date;
begin
  perform pg_advisory_xact_lock(hashtext('assent.add_user_agents'));
  today := (clock_timestamp() at time zone 'UTC')::date;
  with lacking as materialized (
    select
      domains.number as domain_number, w."isFamily" as is_family, w.crawler, w.device, w.browser, w.system, w.text,
      w.months, row_number() over (partition by domains.number, w."isFamily") as place
    from json_to_recordset(wanted) as w (
      text text, "domainId" text, months json, "isFamily" boolean, crawler boolean, device text, browser text,
      system text
    )
    left join domains on domains.id = w."domainId"
    where not exists (select from user_agents a where a.text = w.text and a.is_family = w."isFamily")
  ),
  added_today as materialized (
    select a.domain_number, count(*) as texts from user_agents a
    where a.domain_number in (select domain_number from lacking) and a.added_on = today
    group by 1
  ),
  added as (
    insert into user_agents (domain_number, added_on, is_family, crawler, device, browser, system, text)
    select distinct on (text, is_family)
      case when not is_family then domain_number end, today, is_family, crawler, device, browser, system, text
    from lacking left join added_today using (domain_number)
    where is_family or domain_number is not null and place <= bound - coalesce(texts, 0)
    order by text, is_family
    returning number, text, is_family
  )
  insert into user_agent_months (number, month)
  select distinct added.number, month.value
  from added join lacking using (text, is_family) cross join json_array_elements_text(lacking.months) as month;
  return query
  select domains.id
  from (select distinct w."domainId" from json_to_recordset(wanted) as w ("domainId" text)) as w
  join domains on domains.id = w."domainId"
  where bound <= (select count(*) from user_agents a where a.domain_number = domains.number and a.added_on = today);
end $$;

-- migrate:down

drop function add_user_agents;
drop table user_agent_months, user_agents;
