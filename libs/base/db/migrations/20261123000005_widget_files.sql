-- migrate:up

-- every build of the files that websites load by an address that holds their hash: such an address stays valid for
-- good, whatever release answers
create table widget_files (
  name text not null,
  hash text not null,
  content bytea not null,
  kept_at timestamptz not null default now(),
  primary key (name, hash)
);

-- migrate:down

drop table widget_files;
