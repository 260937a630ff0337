-- Redlock: renews leases on one node, each only for its owner, and keeps their fencing tokens.
--
-- KEYS  (lock, last fencing token of its slot)…
-- ARGV  (token, attempt, ttl, fencingToken)…
--       for each lock its owner token, the number of the attempt that acquired it, the time that must be left, in
--       milliseconds, and its fencing token (0: not known)
--
-- Returns for each lock 1 if the token owns it by that attempt or a later one, and at least that time is left; 0 if the
-- token does not own it.
--
-- Never shortens a lease, never lowers a fencing token, never creates a lock, and never changes anything of another
-- owner. The vote of an earlier attempt does not count, since its withdrawal may still be under way.

local NOT_OWNER, RENEWED, KEYS_PER_LOCK, ARGUMENTS_PER_LOCK = 0, 1, 2, 4
-- a day, in milliseconds: how long the last fencing token is kept
local FENCING_KEEP = '86400000'
local call = redis.call

local function keep(key, fencingToken)
  local last = tonumber(call('GET', key) or 0) or 0
  if last < tonumber(fencingToken) then
    -- a server without memory refuses this, which must not fail the renewal
    redis.pcall('SET', key, fencingToken, 'PX', FENCING_KEEP)
  elseif fencingToken ~= '0' then
    call('PEXPIRE', key, FENCING_KEEP)
  end
end

local results = {}
for index = 1, #KEYS / KEYS_PER_LOCK do
  local lock, fencingKey = KEYS[index * KEYS_PER_LOCK - 1], KEYS[index * KEYS_PER_LOCK]
  local first = (index - 1) * ARGUMENTS_PER_LOCK
  local token, attempt, ttl = ARGV[first + 1], ARGV[first + 2], ARGV[first + 3]
  local owner = call('GET', lock)
  local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
  results[index] = NOT_OWNER
  if present and tonumber(present) >= tonumber(attempt) then
    if call('PTTL', lock) < tonumber(ttl) then
      call('PEXPIRE', lock, ttl)
    end
    keep(fencingKey, ARGV[first + 4])
    results[index] = RENEWED
  end
end
return results
