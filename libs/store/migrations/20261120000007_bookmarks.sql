-- migrate:up

-- Where pages of a busy day of the log begin: of the day's `records`, `newer` have this id or a newer one. A day with
-- another number of records by now has outgrown its bookmarks, and they are passed over until they are set again.
create table bookmarks (
  domain_id text collate "C" not null,
  day text collate "C" not null,
  records bigint not null,
  newer bigint not null,
  id uuid not null,
  primary key (domain_id, day, records, newer)
);

-- migrate:down

drop table bookmarks;
