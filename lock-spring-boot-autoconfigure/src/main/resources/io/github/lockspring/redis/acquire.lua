-- Takes a lock for an owner token if it is free or already that token's; else queues the token if it waits.
--
-- KEYS  lock, fence, queue
-- ARGV  token        owner token of the asking tenure
--       ttl          length of the lease in milliseconds
--       look         0: does not wait · 1, 2: first or later look of a token that waits
--       fenceKeep    how long the fencing token is remembered, in milliseconds
--       queueKeep    how long a queue is kept after the last look, in milliseconds
--       inboxPrefix  what stands before an instance in the name of its inbox
--
-- Returns {1, fencing token}                         the token owns the lock
--         {0, milliseconds left or -1, fence seen}   another owner has it
--         Fencing tokens are strings: Lua's own conversion keeps 14 digits.
--
-- Never shortens a lease, never touches another owner's value, and asks for the time before it writes, so
-- that whatever the server refuses to this user is refused before anything is taken.

local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, look, fenceKeep, queueKeep, inboxPrefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ONCE, AGAIN = '0', '2'
local BUSY, ACQUIRED, INSTANCE_LENGTH, MICROS_PER_SECOND = 0, 1, 22, 1000000

local function text(number)
  return string.format('%.0f', number)
end

local time = redis.call('TIME')
local now = time[1] * MICROS_PER_SECOND + time[2]

if not redis.call('SET', lock, token, 'NX', 'PX', ttl) then
  local owner = redis.call('GET', lock)
  if owner ~= token then
    if look ~= ONCE then
      redis.call('ZADD', queue, 'NX', text(now), token)
      redis.call('PEXPIRE', queue, queueKeep)
      local instance = owner and string.match(owner, '^([%w_-]+)%.%d+%.[1-9]%d?%d?%d?$')
      if instance and #instance == INSTANCE_LENGTH then
        redis.pcall('PUBLISH', inboxPrefix .. instance, 'w ' .. owner .. ' ' .. lock)
      end
    end
    local left = redis.call('PTTL', lock)
    local last = tonumber(redis.call('GET', fence) or 0) or 0
    return { BUSY, text(left), text(math.max(last, now - 1)) }
  end
  if redis.call('PTTL', lock) < tonumber(ttl) then
    redis.call('PEXPIRE', lock, ttl)
  end
end

if look == AGAIN then
  redis.call('ZREM', queue, token)
end

local next = now
local last = tonumber(redis.call('SET', fence, text(next), 'PX', fenceKeep, 'GET') or 0) or 0
if last >= next then
  next = last + 1
  redis.call('SET', fence, text(next), 'PX', fenceKeep)
end
return { ACQUIRED, text(next) }
