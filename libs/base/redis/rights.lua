-- Which of some commands this user may not run.
-- ARGV: a key, and the commands.
-- Returns the first of them; nothing where there is none, or Redis cannot say (before 7).
if redis.acl_check_cmd then
  for i = 2, #ARGV do
    -- twice: some take two keys
    if not redis.acl_check_cmd(ARGV[i], ARGV[1], ARGV[1]) then
      return ARGV[i]
    end
  end
end
