-- Redlock: withdraws a vote, or releases a lock, on one node.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  token             owner token
--       attempt           the last attempt whose vote may be withdrawn; a release passes a larger number than any
--       lastFencingToken  largest fencing token of this ownership if it was raised outside of Redis, else 0
--       keep              how long the lock stays taken, in milliseconds; 0: it is free at once
--
-- Returns '1'                        deleted, or kept
--         '0 <last fencing token>'   the token had no vote here; 0: the fencing token is not known
--
-- Never changes a lock of another owner, nor one that a later attempt of the same owner has acquired: this script may
-- run long after it was sent.

local lock, fencingKey = KEYS[1], KEYS[2]
local token, attempt, lastFencingToken, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local NOT_OWNER, WITHDRAWN = '0 ', '1'
-- a day, in milliseconds: how long the last fencing token is kept
local FENCING_KEEP = '86400000'
local call = redis.call

local owner = call('GET', lock)
local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
if not present or tonumber(present) > tonumber(attempt) then
  if owner == token .. '.kept' then
    return WITHDRAWN
  end
  return NOT_OWNER .. string.format('%.0f', tonumber(call('GET', fencingKey) or 0) or 0)
end

-- first, since it needs no memory: a server without memory refuses only a script's first write
call('DEL', lock)

if lastFencingToken ~= '0' and tonumber(lastFencingToken) > (tonumber(call('GET', fencingKey) or 0) or 0) then
  call('SET', fencingKey, lastFencingToken, 'PX', FENCING_KEEP)
end

if keep ~= '0' then
  -- not the form of a vote: it is not renewed or withdrawn
  call('SET', lock, token .. '.kept', 'PX', keep)
end
return WITHDRAWN
