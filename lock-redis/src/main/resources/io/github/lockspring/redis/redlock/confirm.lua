-- Redlock: makes an acquisition final on one node. Remembers the fencing token and lengthens the lease.
--
-- KEYS  lock, fence
-- ARGV  token         owner token of the tenure
--       attempt       number of the attempt that a majority voted for
--       ttl           time that should be left of the lease, in milliseconds
--       fencingToken  the largest of the majority's votes
--       fenceKeep     how long the fencing token is remembered, in milliseconds
--
-- Returns '1' if the token owns the lock here by this attempt or a later one, '0' if it does not.
--
-- Never shortens a lease, never lowers the fencing token, never creates the lock, and changes nothing that belongs to
-- another owner: one that comes late must not raise the token under the next holder. Nor does it touch the vote of an
-- earlier attempt, whose withdrawal is under way: if that came after the end of the tenure, nobody else would take
-- it back.

local lock, fence = KEYS[1], KEYS[2]
local token, attempt, ttl, fencingToken, fenceKeep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local NOT_OWNER, CONFIRMED = '0', '1'
local call = redis.call

local owner = call('GET', lock)
local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
if not present or tonumber(present) < tonumber(attempt) then
  return NOT_OWNER
end

-- needs no memory, so it comes first: a server that has none refuses only a script's first write
if call('PTTL', lock) < tonumber(ttl) then
  call('PEXPIRE', lock, ttl)
end

local last = tonumber(call('GET', fence) or 0) or 0
if last < tonumber(fencingToken) then
  call('SET', fence, fencingToken, 'PX', fenceKeep)
else
  call('PEXPIRE', fence, fenceKeep)
end
return CONFIRMED
