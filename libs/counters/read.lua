-- Reads counters of one organization, where this server holds all of them: else nothing.
-- KEYS: the organization's mark, then the hashes.
-- ARGV: this server's run_id, then for each hash the number of its fields and the fields.
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return nil
end
local found, at = {}, 2
for i = 2, #KEYS do
  local count = tonumber(ARGV[at])
  local values = redis.call('hmget', KEYS[i], unpack(ARGV, at + 1, at + count))
  for j = 1, count do
    found[#found + 1] = values[j]
  end
  at = at + count + 1
end
return found
