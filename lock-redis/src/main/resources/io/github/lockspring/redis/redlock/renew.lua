-- Redlock: renews leases on one node, each only for its owner.
--
-- KEYS  lock…
-- ARGV  (token, attempt, ttl)…   for each lock its owner token, the number of the attempt that acquired it, and the
--                                time that must be left, in milliseconds
--
-- Returns for each lock 1 if the token owns it by that attempt or a later one, and at least that time is left; 0 if the
-- token does not own it.
--
-- Never shortens a lease and never creates a key. The vote of an earlier attempt does not count, since its withdrawal
-- may still be under way.

local NOT_OWNER, RENEWED, ARGUMENTS_PER_LOCK = 0, 1, 3

local results = {}
for index, lock in ipairs(KEYS) do
  local last = index * ARGUMENTS_PER_LOCK
  local token, attempt, ttl = ARGV[last - 2], ARGV[last - 1], ARGV[last]
  local owner = redis.call('GET', lock)
  local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
  results[index] = NOT_OWNER
  if present and tonumber(present) >= tonumber(attempt) then
    if redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    end
    results[index] = RENEWED
  end
end
return results
