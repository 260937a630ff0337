-- Redlock: confirms an acquisition on one node. Stores the fencing token and lengthens the lease.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  token         owner token
--       attempt       number of the attempt that a majority voted for
--       ttl           time that must be left of the lease, in milliseconds
--       fencingToken  the largest fencing token of the majority
--
-- Returns '1' if the token owns the lock here by this attempt or a later one, '0' if it does not.
--
-- Never shortens a lease, never lowers the fencing token, never creates the lock, and never changes anything of another
-- owner: a late confirmation must not raise the fencing token under the next holder. Nor does it lengthen the vote of
-- an earlier attempt, whose withdrawal is under way: if that vote arrived after the end of the ownership, no other
-- command would remove it.

local lock, fencingKey = KEYS[1], KEYS[2]
local token, attempt, ttl, fencingToken = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local NOT_OWNER, CONFIRMED = '0', '1'
-- a day, in milliseconds: how long the last fencing token is kept
local FENCING_KEEP = '86400000'
local call = redis.call

local owner = call('GET', lock)
local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
if not present or tonumber(present) < tonumber(attempt) then
  return NOT_OWNER
end

-- first, since it needs no memory: a server without memory refuses only a script's first write
if call('PTTL', lock) < tonumber(ttl) then
  call('PEXPIRE', lock, ttl)
end

local last = tonumber(call('GET', fencingKey) or 0) or 0
if last < tonumber(fencingToken) then
  call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
else
  call('PEXPIRE', fencingKey, FENCING_KEEP)
end
return CONFIRMED
