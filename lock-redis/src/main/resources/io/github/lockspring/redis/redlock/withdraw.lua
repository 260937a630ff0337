-- Redlock: takes a vote back, or ends a tenure, on one node.
--
-- KEYS  lock, fence
-- ARGV  token      owner token
--       attempt    the last attempt whose vote may be taken back; the end of the tenure gives a larger one than any
--       lastFence  largest fencing token that the tenure used if that was raised outside of Redis, else 0
--       keep       how long the lock stays taken, in milliseconds; 0: it is free at once
--       fenceKeep  how long the fencing token is remembered, in milliseconds
--
-- Returns '1' if it is freed, or kept, '0 <fence>' if nothing here was the token's; fence 0: not known.
--
-- Never changes a lock of another owner, nor one that a later attempt of the same owner has taken: this may be
-- carried out long after it was sent.

local lock, fence = KEYS[1], KEYS[2]
local token, attempt, lastFence, keep, fenceKeep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local NOT_OWNER, WITHDRAWN = '0 ', '1'
local call = redis.call

local owner = call('GET', lock)
local present = owner and string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
if not present or tonumber(present) > tonumber(attempt) then
  if owner == token .. '.kept' then
    return WITHDRAWN
  end
  return NOT_OWNER .. string.format('%.0f', tonumber(call('GET', fence) or 0) or 0)
end

-- first, since a server without memory refuses a script's first write if that needs some, but none after it
call('DEL', lock)

if lastFence ~= '0' and tonumber(lastFence) > (tonumber(call('GET', fence) or 0) or 0) then
  call('SET', fence, lastFence, 'PX', fenceKeep)
end

if keep ~= '0' then
  -- not the form of a vote: nobody renews or withdraws it
  call('SET', lock, token .. '.kept', 'PX', keep)
end
return WITHDRAWN
