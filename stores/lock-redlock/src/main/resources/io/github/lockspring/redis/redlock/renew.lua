-- Redlock: confirms an acquisition or renews leases on one node, each only for its owner. Stores fencing tokens.
--
-- KEYS  (lock, last fencing token of its slot)…
-- ARGV  (token, attempt, ttl, fencingToken)…
--       for each lock its owner token, the number of the attempt that acquired it, the time that must be left, in
--       milliseconds, and its first fencing token (0: unknown)
-- Returns for each lock 1 if the token owns it by this or a later attempt and at least that time is left, or 0 if the
-- token does not own it.
-- Never shortens a lease, never lowers a fencing token, never creates a lock, and never changes a lock of another owner
-- or its fencing token, since a confirmation may be late. Ignores the vote of an earlier attempt, since a withdrawal may be
-- on its way: if that vote arrived after the end of the ownership, no other command would remove it.

local NOT_OWNER, RENEWED, KEYS_PER_LOCK, ARGUMENTS_PER_LOCK = 0, 1, 2, 4
-- the largest number of local hand-offs in an ownership; a holder that dies does not report them
local MAX_LOCAL_TOKENS = 1000
-- how long the last fencing token is kept: a day, in milliseconds
local FENCING_KEEP = '86400000'
local call = redis.call

local time = call('TIME')
local now = tonumber(time[1] .. string.format('%06d', time[2]))

-- The lock becomes free by a release, which reports the last token, or at the end of its lease. If the clock will have
-- passed all tokens of the ownership by then, the next token is larger anyway. Otherwise, leaves room for them.
local function store(key, fencingToken, ttl)
  if fencingToken == '0' then
    return
  end
  local lastPossible = tonumber(fencingToken) + MAX_LOCAL_TOKENS
  if lastPossible > now + tonumber(ttl) * 1000 then
    fencingToken = string.format('%.0f', lastPossible)
  end
  if (tonumber(call('GET', key) or 0) or 0) < tonumber(fencingToken) then
    call('SET', key, fencingToken, 'PX', FENCING_KEEP)
  else
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
    -- comes first, since it needs no memory: a server that is out of memory rejects only the first write of a script
    call('PEXPIRE', lock, math.max(call('PTTL', lock), ttl))
    store(fencingKey, ARGV[first + 4], ttl)
    results[index] = RENEWED
  end
end
return results
