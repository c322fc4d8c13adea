-- migrate:up

-- What is erased is looked up by the visitors at hand, so that it costs the same however many were erased before. Apart
-- from the columns, whose lock nobody may have to wait for.
create index tombstones_by_hash on tombstones (hash);
create index tombstones_by_epoch on tombstones (epoch);
create index tombstones_by_end on tombstones (until);
create index tombstones_untold on tombstones (hash) where remembered_at is null;
create index tombstones_unsearched on tombstones (hash) where searched_at is null;
create index tombstones_unsearched_in_rejected on tombstones (hash) where rejected_searched_at is null;
create index rejected_records_unsearched on rejected_records (id) where searched_at is null;

-- migrate:down

drop index rejected_records_unsearched, tombstones_unsearched_in_rejected, tombstones_unsearched, tombstones_untold, tombstones_by_end, tombstones_by_epoch, tombstones_by_hash;
