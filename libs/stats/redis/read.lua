-- Reads counters of one organization; returns nil unless this server holds all of them.
-- KEYS: the organization's mark, then the hashes.
-- ARGV: this server's run_id, then for each hash the first and the last of the fields that are wanted.
-- Returns for each hash its fields, each followed by its value.
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return nil
end
local found = {}
for i = 2, #KEYS do
  local first, last = ARGV[2 * i - 2], ARGV[2 * i - 1]
  local all, wanted = redis.call('hgetall', KEYS[i]), {}
  for j = 1, #all, 2 do
    if all[j] >= first and all[j] <= last then
      wanted[#wanted + 1] = all[j]
      wanted[#wanted + 1] = all[j + 1]
    end
  end
  found[i - 1] = wanted
end
return found
