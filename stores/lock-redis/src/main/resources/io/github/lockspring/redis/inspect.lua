-- Returns the owner of a lock and its waiters. Never changes anything.
--
-- KEYS  lock, last fencing token of its slot, queue
-- ARGV  most  the largest number of queue members to return
--
-- Returns an empty list   the lock is free
--         as text: owner, milliseconds left or -1, microseconds since the owner requested the lock by its clock or -1, a
--         number at least as large as each fencing token of the owner, length of the queue, first members of the queue

local lock, fencingKey, queue = KEYS[1], KEYS[2], KEYS[3]
local most = tonumber(ARGV[1])
-- the largest number of local hand-offs in an ownership, which Redis does not learn before the release
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
local reply = { owner, text(call('PTTL', lock)), requested and text(math.max(0, now - requested)) or '-1',
  text(math.max(last + MAX_LOCAL_TOKENS, now)), text(call('ZCARD', queue)) }
for _, member in ipairs(call('ZRANGE', queue, 0, most - 1)) do
  reply[#reply + 1] = member
end
return reply
