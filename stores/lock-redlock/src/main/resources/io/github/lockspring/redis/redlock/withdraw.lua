-- Redlock: withdraws a vote or releases a lock on one node, also by force.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  token             owner token; by force also the whole value of a lock that is kept or is not ours
--       attempt           the last attempt whose vote may be withdrawn; a release passes the largest possible number
--       lastFencingToken  largest fencing token of this ownership if local hand-offs have raised it, else 0; by force a
--                         larger one than all of the ownership
--       keep              how long to keep the lock, in milliseconds; 0: it is free immediately
--
-- Returns '1'                        deleted or kept
--         '0 <last fencing token>'   the token had no vote here; token 0: unknown
-- Never changes a lock of another owner, or one acquired by a later attempt of the same owner: this script may run long
-- after it was sent.

local lock, fencingKey = KEYS[1], KEYS[2]
local token, attempt, lastFencingToken, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local NOT_OWNER, WITHDRAWN = '0 ', '1'
-- how long the last fencing token is kept: a day, in milliseconds
local FENCING_KEEP = '86400000'
local call = redis.call

local owner = call('GET', lock)
local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
if owner ~= token and (not present or tonumber(present) > tonumber(attempt)) then
  if owner == token .. '.kept' then
    return WITHDRAWN
  end
  return NOT_OWNER .. string.format('%.0f', tonumber(call('GET', fencingKey) or 0) or 0)
end

-- comes first, since it needs no memory: a server that is out of memory rejects only the first write of a script
call('DEL', lock)

if lastFencingToken ~= '0' and tonumber(lastFencingToken) > (tonumber(call('GET', fencingKey) or 0) or 0) then
  call('SET', fencingKey, lastFencingToken, 'PX', FENCING_KEEP)
end

if keep ~= '0' then
  -- differs from every vote, so it is not renewed or withdrawn
  call('SET', lock, token .. '.kept', 'PX', keep)
end
return WITHDRAWN
