-- Reads counters of one organization, where this server holds all of them: else nothing.
-- KEYS: the organization's mark, then the hashes.
-- ARGV: this server's run_id, then for each hash the first and the last of the fields that are wanted.
-- Returns for each hash its fields and their values in turn.
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
