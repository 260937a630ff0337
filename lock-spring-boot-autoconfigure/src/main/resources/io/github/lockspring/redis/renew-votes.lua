-- Redlock: lengthens leases on one node, each only for its owner.
--
-- KEYS  lock…
-- ARGV  (token, ttl)…   for each lock its owner token and the time that should be left, in milliseconds
--
-- Returns for each lock 1 if the token owns it and at least that time is left, 0 if it does not own it.
--
-- Never shortens a lease and never creates a key. What is renewed is held, and only the end of the tenure takes it
-- away: no withdrawal of an earlier attempt, which may still be under way.

local NOT_OWNER, RENEWED, ARGUMENTS_PER_LOCK = 0, 1, 2
local HELD = ':9007199254740990'

local answers = {}
for index, lock in ipairs(KEYS) do
  local token, ttl = ARGV[index * ARGUMENTS_PER_LOCK - 1], ARGV[index * ARGUMENTS_PER_LOCK]
  local owner = redis.call('GET', lock)
  answers[index] = NOT_OWNER
  if owner and string.sub(owner, 1, #token + 1) == token .. ':' then
    if redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    end
    if owner ~= token .. HELD then
      redis.call('SET', lock, token .. HELD, 'KEEPTTL')
    end
    answers[index] = RENEWED
  end
end
return answers
