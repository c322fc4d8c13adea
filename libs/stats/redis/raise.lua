-- Raises counters of one organization: each count becomes the larger of the old and the given one, so a raise may come
-- twice, late or out of order.
-- KEYS: the set of the organization's counter keys, then the hashes.
-- ARGV: for each hash its counters, as in PackedCounters: field, space, four counts, with ';' between counters.
local function parse(counts)
  local a, r, c, w = string.match(counts, '^(%d+) (%d+) (%d+) (%d+)$')
  -- a malformed value counts as 0
  return tonumber(a or 0), tonumber(r or 0), tonumber(c or 0), tonumber(w or 0)
end
for i = 2, #KEYS do
  redis.call('sadd', KEYS[1], KEYS[i])
  local fields, given = {}, {}
  for field, counts in string.gmatch(ARGV[i - 1], '([^ ;]+) ([^;]+)') do
    fields[#fields + 1] = field
    given[#given + 1] = counts
  end
  local found, held, raised = redis.call('hmget', KEYS[i], unpack(fields)), {}, {}
  for j, field in ipairs(fields) do
    held[field] = found[j]
  end
  for j, counts in ipairs(given) do
    -- what Redis holds, or what this call has set already: a field may come twice
    local old = held[fields[j]]
    if old and old ~= counts then
      local a, r, c, w = parse(old)
      local na, nr, nc, nw = parse(counts)
      counts = string.format('%.0f %.0f %.0f %.0f', math.max(a, na), math.max(r, nr), math.max(c, nc), math.max(w, nw))
    end
    if old ~= counts then
      raised[#raised + 1] = fields[j]
      raised[#raised + 1] = counts
      held[fields[j]] = counts
    end
  end
  if #raised > 0 then
    redis.call('hset', KEYS[i], unpack(raised))
  end
end
return #KEYS - 1
