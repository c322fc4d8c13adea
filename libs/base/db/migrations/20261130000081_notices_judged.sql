-- migrate:up

-- Apart from the column, whose lock nobody may have to wait for. What is there stays: nobody has counted it by day.
update notices set kept_at = clock_timestamp() where documented_at is not null and named_at is not null;
create index notices_on_trial on notices (documented_at) where documented_at is not null and kept_at is null;

-- migrate:down

drop index notices_on_trial;
