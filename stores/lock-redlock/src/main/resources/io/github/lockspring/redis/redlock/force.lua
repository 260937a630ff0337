-- Redlock: ends the ownership of another instance on one node.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  owner             owner token, for a vote of any of its attempts; or the whole value, for a lock that is kept
--       fencingToken      larger than all tokens of the ownership
--
-- Returns '1'   deleted
--         '0'   another owner or none holds the lock here
--
-- Never changes a lock of another owner, and never lowers the fencing token.

local lock, fencingKey = KEYS[1], KEYS[2]
local owner, fencingToken = ARGV[1], ARGV[2]
local OTHER_OWNER, DELETED = '0', '1'
-- how long the last fencing token is kept: a day, in milliseconds
local FENCING_KEEP = '86400000'
local call = redis.call

local present = call('GET', lock)
if not present or (present ~= owner and string.match(present, '^(.*):%d+$') ~= owner) then
  return OTHER_OWNER
end

-- comes first, since it needs no memory: a server that is out of memory rejects only the first write of a script
call('DEL', lock)
if tonumber(fencingToken) > (tonumber(call('GET', fencingKey) or 0) or 0) then
  call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
end
return DELETED
