-- Sums counters of one organization; returns nil unless this server holds all of them.
-- KEYS: the organization's mark, then the hashes.
-- ARGV: this server's run_id, then for each hash the first and the last of the fields that are wanted.
-- Returns the four sums in the format of a counter.
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return nil
end
local a, r, c, w = 0, 0, 0, 0
for i = 2, #KEYS do
  local first, last = ARGV[2 * i - 2], ARGV[2 * i - 1]
  local all = redis.call('hgetall', KEYS[i])
  for j = 1, #all, 2 do
    if all[j] >= first and all[j] <= last then
      local da, dr, dc, dw = string.match(all[j + 1], '^(%d+) (%d+) (%d+) (%d+)$')
      -- a malformed value counts as 0
      if da then
        a, r, c, w = a + da, r + dr, c + dc, w + dw
      end
    end
  end
end
return string.format('%.0f %.0f %.0f %.0f', a, r, c, w)
