-- Stores number, size and root of logs. ARGV: domain, number, size, root, repeated. Newer values stay: another process may
-- have published more in the meantime.
for at = 1, #ARGV, 4 do
  local domain, log, size, root = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), ARGV[at + 3]
  local known = redis.call('HGET', KEYS[1], domain)
  local knownLog, knownSize = string.match(known or '0 0 ', '^(%d+) (%d+) ')
  knownLog, knownSize = tonumber(knownLog), tonumber(knownSize)
  if log > knownLog or (log == knownLog and size > knownSize) then
    redis.call('HSET', KEYS[1], domain, string.format('%d %.0f %s', log, size, root))
  end
end
