-- Raises counters of one organization: each count becomes the larger of the old and the given one, so a raise may come
-- twice, late or out of order.
-- KEYS: the set of the organization's counter keys, then the hashes.
-- ARGV: for each counter the index of its hash in KEYS, its field, and its four counts.
for i = 2, #KEYS do
  redis.call('sadd', KEYS[1], KEYS[i])
end
for i = 1, #ARGV, 6 do
  local key, field = KEYS[tonumber(ARGV[i])], ARGV[i + 1]
  local old = redis.call('hget', key, field)
  local a, r, c, w = 0, 0, 0, 0
  if old then
    a, r, c, w = string.match(old, '^(%d+) (%d+) (%d+) (%d+)$')
    -- a malformed value counts as 0
    a, r, c, w = tonumber(a or 0), tonumber(r or 0), tonumber(c or 0), tonumber(w or 0)
  end
  local na, nr = math.max(a, tonumber(ARGV[i + 2])), math.max(r, tonumber(ARGV[i + 3]))
  local nc, nw = math.max(c, tonumber(ARGV[i + 4])), math.max(w, tonumber(ARGV[i + 5]))
  if not old or na > a or nr > r or nc > c or nw > w then
    redis.call('hset', key, field, string.format('%.0f %.0f %.0f %.0f', na, nr, nc, nw))
  end
end
return #ARGV / 6
