-- Sets the ready mark if the calling fill's nonce is still there: a flush or a drop in between removes the nonce, and
-- perhaps counters that the fill has raised.
-- KEYS: fill, ready. ARGV: nonce, run_id.
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('del', KEYS[1])
redis.call('set', KEYS[2], ARGV[2])
return 1
