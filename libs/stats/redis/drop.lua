-- Drops some counters of one organization, with its mark and the nonce of a fill under way. Called until none is left, so
-- that a large organization does not block Redis. Raises in between may add counters again, but the set is complete only
-- after a later fill.
-- KEYS: ready, fill, the set of the organization's counter keys. ARGV: how many.
-- Returns how many keys it dropped.
redis.call('del', KEYS[1], KEYS[2])
if redis.call('type', KEYS[3]).ok ~= 'set' then
  redis.call('del', KEYS[3])
  return 0
end
local keys = redis.call('spop', KEYS[3], ARGV[1])
for _, key in ipairs(keys) do
  redis.call('del', key)
end
return #keys
