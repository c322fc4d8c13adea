-- Which hashes of one organization do not hold exactly the given counters, from a field on.
-- KEYS: the hashes.
-- ARGV: for each hash the first field to look at, and its counters, as in PackedCounters.
-- Returns the places in KEYS of those that differ.
local differ = {}
for i = 1, #KEYS do
  local first, all, held = ARGV[2 * i - 1], redis.call('hgetall', KEYS[i]), {}
  for j = 1, #all, 2 do
    if all[j] >= first then
      held[all[j]] = all[j + 1]
    end
  end
  local same = true
  for field, counts in string.gmatch(ARGV[2 * i], '([^ ;]+) ([^;]+)') do
    same = same and held[field] == counts
    held[field] = nil
  end
  if not same or next(held) then
    differ[#differ + 1] = i
  end
end
return differ
