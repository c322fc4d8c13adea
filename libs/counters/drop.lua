-- Drops all counters of one organization with its mark and the nonce of any fill under way.
-- KEYS: ready, fill, the set of the organization's counter keys.
redis.call('del', KEYS[1], KEYS[2])
for _, key in ipairs(redis.call('smembers', KEYS[3])) do
  redis.call('del', key)
end
return redis.call('del', KEYS[3])
