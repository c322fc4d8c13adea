-- migrate:up

-- The log filtered by the one rare decision: without it a page of withdrawals walks through all other records.
create index records_withdrawn on records (domain_id, id) where decision = 'withdraw';

-- migrate:down

drop index records_withdrawn;
