-- Renews leases, each only for its owner.
--
-- KEYS  lock…
-- ARGV  (token, ttl)…   for each lock its owner token and the time that must be left, in milliseconds
-- Returns for each lock 1 if the token owns it and at least that time is left, or 0 if the token does not own it.
-- Never shortens a lease, never creates a key, and uses no keys but the locks: while a cluster slot migrates, a script
-- with a missing key fails.

local NOT_OWNER, RENEWED, ARGUMENTS_PER_LOCK = 0, 1, 2

local results = {}
for index, lock in ipairs(KEYS) do
  local token, ttl = ARGV[index * ARGUMENTS_PER_LOCK - 1], ARGV[index * ARGUMENTS_PER_LOCK]
  results[index] = NOT_OWNER
  if redis.call('GET', lock) == token then
    -- written even if enough is left, since replicas acknowledge only writes
    redis.call('PEXPIRE', lock, math.max(redis.call('PTTL', lock), tonumber(ttl)))
    results[index] = RENEWED
  end
end
return results
