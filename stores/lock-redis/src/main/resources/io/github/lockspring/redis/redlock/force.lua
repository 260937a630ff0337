-- Redlock: ends on one node, for somebody else, an ownership that was seen.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  owner             owner token, whichever of its attempts has the vote; or the whole value, as of a lock that is kept
--       fencingToken      larger than those of the ownership
--
-- Returns '1'   deleted
--         '0'   another owner, or none, has the lock here
--
-- Never changes a lock of another owner, and never lowers the fencing token.

local lock, fencingKey = KEYS[1], KEYS[2]
local owner, fencingToken = ARGV[1], ARGV[2]
local OTHER_OWNER, DELETED = '0', '1'
-- a day, in milliseconds: how long the last fencing token is kept
local FENCING_KEEP = '86400000'
local call = redis.call

local present = call('GET', lock)
if not present or (present ~= owner and string.match(present, '^(.*):%d+$') ~= owner) then
  return OTHER_OWNER
end

-- first, since it needs no memory: a server without memory refuses only a script's first write
call('DEL', lock)
if tonumber(fencingToken) > (tonumber(call('GET', fencingKey) or 0) or 0) then
  call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
end
return DELETED
