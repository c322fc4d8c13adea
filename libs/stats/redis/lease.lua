-- Keeps the nonce of a fill for its owner.
-- KEYS: the nonce. ARGV: owner, milliseconds from now (0 or less: it ends).
-- Returns 1; 0 if the nonce is another fill's, or gone.
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('pexpire', KEYS[1], ARGV[2])
