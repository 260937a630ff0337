-- Takes a lock for an owner token if it is free or already that token's; else queues the token if it waits.
--
-- KEYS  lock, fence, queue
-- ARGV  token        owner token of the asking tenure
--       ttl          length of the lease in milliseconds
--       look         0: does not wait · 1, 2: first or later look of a token that waits
--       fenceKeep    how long the fencing token is remembered, in milliseconds
--       inboxPrefix  what stands before an instance in the name of its inbox
--
-- Returns '1 <fencing token>'                          the token owns the lock
--         '0 <milliseconds left or -1> <fence seen>'   another owner has it
--         '2 <milliseconds left or -1> <fence seen> <message>'   as 0; the caller publishes the message
--         As text, which is cheaper than an array, and Lua's own conversion of numbers keeps 14 digits only.
--
-- Never shortens a lease, never touches another owner's value, and asks for the time before it writes, so
-- that whatever the server refuses to this user is refused before anything is taken.

local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, look, fenceKeep = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ONCE, AGAIN = '0', '2'
local BUSY, ACQUIRED, BUSY_NOT_SENT = '0 ', '1 ', '2 '
local call = redis.call

-- seconds and six digits of microseconds, as text: what is common here needs no arithmetic
local time = call('TIME')
local now = time[1] .. string.format('%06d', time[2])

if not call('SET', lock, token, 'NX', 'PX', ttl) then
  local owner = call('GET', lock)
  if owner ~= token then
    local notSent
    if look ~= ONCE then
      local inboxPrefix = ARGV[5]
      local INSTANCE_LENGTH, QUEUE_KEEP = 22, 60000
      call('ZADD', queue, 'NX', now, token)
      call('PEXPIRE', queue, QUEUE_KEEP)
      -- who is not the first was announced by the one before, or by the message that gave the lock
      -- (a user who may not count tells it each time)
      local queued = look == AGAIN or redis.pcall('ZCARD', queue)
      if type(queued) ~= 'number' or queued == 1 then
        local instance = owner and string.match(owner, '^([%w_-]+)%.%d+%.[1-9]%d?%d?%d?$')
        if instance and #instance == INSTANCE_LENGTH then
          local message = 'w ' .. owner .. ' ' .. lock
          local published = redis.pcall('PUBLISH', inboxPrefix .. instance, message)
          if type(published) == 'table' and published.err then
            notSent = message
          end
        end
      end
    end
    local left = string.format('%.0f', call('PTTL', lock))
    local last = tonumber(call('GET', fence) or 0) or 0
    local busy = left .. ' ' .. string.format('%.0f', math.max(last, now - 1))
    return notSent and BUSY_NOT_SENT .. busy .. ' ' .. notSent or BUSY .. busy
  end
  if call('PTTL', lock) < tonumber(ttl) then
    call('PEXPIRE', lock, ttl)
  end
end

if look == AGAIN then
  call('ZREM', queue, token)
end

local next = now
local last = tonumber(call('SET', fence, next, 'PX', fenceKeep, 'GET') or 0) or 0
if last >= tonumber(next) then
  next = string.format('%.0f', last + 1)
  call('SET', fence, next, 'PX', fenceKeep)
end
return ACQUIRED .. next
