-- Sets the ready mark, only if the fill that asks is still the one under way: a flush or a drop in between took its
-- nonce away, and with it perhaps what it had raised.
-- KEYS: fill, ready. ARGV: nonce, run_id.
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('del', KEYS[1])
redis.call('set', KEYS[2], ARGV[2])
return 1
