-- migrate:up

-- The texts of entries that are not a record's: notices and erasures. Their ids in log_runs are the largest of all, and
-- their secrets zeros. They name nobody and stay, whatever retention takes.
create table log_texts (
  position bigint not null,
  domain_number integer not null,
  log integer not null,
  -- where it is a notice's
  notice_number integer,
  text text not null,
  primary key (domain_number, log, position)
);
create unique index log_texts_by_notice on log_texts (domain_number, log, notice_number)
  where notice_number is not null;

-- Runs of texts alone end with the same record as the one before them: whoever looks for that record finds the first.
drop index log_runs_by_record;
create index log_runs_by_record on log_runs (domain_number, last_epoch, last_id, log, first);

-- migrate:down

drop index log_runs_by_record;
create index log_runs_by_record on log_runs (domain_number, last_epoch, last_id);

drop table log_texts;
