-- Drops all counters of one organization with its mark and the nonce of any fill under way.
-- KEYS: ready, fill, the set of the organization's counter keys.
redis.call('del', KEYS[1], KEYS[2])
if redis.call('type', KEYS[3]).ok == 'set' then
  for _, key in ipairs(redis.call('smembers', KEYS[3])) do
    redis.call('del', key)
  end
end
return redis.call('del', KEYS[3])
