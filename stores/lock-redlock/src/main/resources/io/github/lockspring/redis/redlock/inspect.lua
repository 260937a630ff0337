-- Redlock: returns the owner of a lock on one node. Never changes anything.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  none
--
-- Returns an empty list   no vote here
--         as text: owner, milliseconds left or -1, microseconds since the owner requested the lock by its clock or -1, a
--         number at least as large as each fencing token of the owner, if this node knows the owner's first one

local lock, fencingKey = KEYS[1], KEYS[2]
-- the largest number of local hand-offs in an ownership, which no node learns before the release
local MAX_LOCAL_TOKENS = 1000
local call = redis.call

local owner = call('GET', lock)
if not owner then
  return {}
end
local function text(number)
  return string.format('%.0f', number)
end
local time = call('TIME')
local now = tonumber(time[1] .. string.format('%06d', time[2]))
local last = tonumber(call('GET', fencingKey) or 0) or 0
local requested = tonumber(string.match(owner, '^[%w_-]+%.(%d+)%.'))
return { owner, text(call('PTTL', lock)), requested and text(math.max(0, now - requested)) or '-1',
  text(math.max(last + MAX_LOCAL_TOKENS, now)) }
