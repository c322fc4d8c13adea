-- Returns when the oldest job that is neither done nor failed was added, in Unix milliseconds; 0 if there is none, and -1
-- if there are more than ARGV[1] such jobs. Job numbers grow, so the oldest job has the lowest number.
local lists, sets = {'wait', 'paused', 'active'}, {'delayed', 'prioritized'}
local count, oldest = 0, nil
local function look(ids)
  for _, id in ipairs(ids) do
    local number = tonumber(id)
    if number and (not oldest or number < oldest) then oldest = number end
  end
end
for _, name in ipairs(lists) do count = count + redis.call('LLEN', KEYS[1] .. name) end
for _, name in ipairs(sets) do count = count + redis.call('ZCARD', KEYS[1] .. name) end
if count > tonumber(ARGV[1]) then return -1 end
for _, name in ipairs(lists) do look(redis.call('LRANGE', KEYS[1] .. name, 0, -1)) end
for _, name in ipairs(sets) do look(redis.call('ZRANGE', KEYS[1] .. name, 0, -1)) end
if not oldest then return 0 end
return tonumber(redis.call('HGET', KEYS[1] .. string.format('%.0f', oldest), 'timestamp') or 0)
