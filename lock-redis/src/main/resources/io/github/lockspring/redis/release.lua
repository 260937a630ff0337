-- Ends a tenure: frees the lock, hands it to the first in the queue, or keeps it for a while; leaves the queue.
--
-- KEYS  lock, fence, queue
-- ARGV  token        owner token of the tenure that ends
--       lastFence    largest fencing token it used if that was raised outside of Redis, else 0
--       keep         how long the lock stays taken, in milliseconds; 0: it is free at once
--       fenceKeep    how long the fencing token is remembered, in milliseconds
--       inboxPrefix  what stands before an instance in the name of its inbox
--       exactCount   '1' if this server knows every subscriber of an inbox
--
-- Returns '0 <fence>'            the token was not the owner; fence 0: not known
--         '1'                    freed, or kept
--         '2 <sent> <message>'   handed over; sent 0: the caller publishes the message
--
-- Never changes a lock of another owner. PUBLISH comes last and its failure is not an error, since an error
-- would hide from the caller what was already written.

local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, lastFence, keep, fenceKeep = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local NOT_OWNER, RELEASED = '0 ', '1'
local call = redis.call

local owner = call('GET', lock)
if owner ~= token then
  call('ZREM', queue, token)
  if owner == token .. '.kept' then
    return RELEASED
  end
  return NOT_OWNER .. string.format('%.0f', tonumber(call('GET', fence) or 0) or 0)
end

-- A script runs while its cluster slot migrates if all its keys are here, and is refused one that is gone since:
-- the queue, once its last waiter has left.
local queued = call('EXISTS', queue) == 1

-- A server without memory refuses a script's first write if that needs some, but none after it. So the first
-- one, here and before handing over, is always one that needs none.
if queued or lastFence ~= '0' or keep ~= '0' then
  call('ZREM', queue, token)
end

if lastFence ~= '0' and tonumber(lastFence) > (tonumber(call('GET', fence) or 0) or 0) then
  call('SET', fence, lastFence, 'PX', fenceKeep)
end

if keep ~= '0' then
  -- not the form of a token: nobody publishes to it, renews or releases it
  call('SET', lock, token .. '.kept', 'PX', keep)
  return RELEASED
end

if not queued then
  call('DEL', lock)
  return RELEASED
end

local inboxPrefix, exactCount = ARGV[5], ARGV[6]
local SENT, NOT_SENT = '2 1 ', '2 0 '
local INSTANCE_LENGTH, MICROS_PER_SECOND, MOST_DEAD_WAITERS = 22, 1000000, 32

local function parse(waiter)
  local instance, grant = string.match(waiter, '^([%w_-]+)%.%d+%.([1-9]%d?%d?%d?)$')
  if instance and #instance == INSTANCE_LENGTH then
    return inboxPrefix .. instance, grant
  end
end

local function isSubscribed(inbox)
  if exactCount ~= '1' then
    return true
  end
  -- asked before anything is given, and an error (an ACL forbids it) counts as yes
  local answer = redis.pcall('PUBSUB', 'NUMSUB', inbox)
  return answer.err ~= nil or answer[2] ~= 0
end

local function isGone(answer)
  return string.find(answer.err, 'non local key', 1, true)
end

for _ = 1, MOST_DEAD_WAITERS do
  local popped = redis.pcall('ZPOPMIN', queue)
  if popped.err and not isGone(popped) then
    return popped
  end
  local waiter = popped[1]
  if not waiter then
    break
  end
  local inbox, grant = parse(waiter)
  if inbox and isSubscribed(inbox) then
    local time = call('TIME')
    local last = tonumber(call('GET', fence) or 0) or 0
    local next = string.format('%.0f', math.max(last + 1, time[1] * MICROS_PER_SECOND + time[2]))
    call('SET', fence, next, 'PX', fenceKeep)
    call('SET', lock, waiter, 'PX', grant)
    local others = redis.pcall('EXISTS', queue) == 1 and '1' or '0'
    local message = 'g ' .. waiter .. ' ' .. next .. ' ' .. others .. ' ' .. lock
    local published = redis.pcall('PUBLISH', inbox, message)
    local failed = type(published) == 'table' and published.err
    return (failed and NOT_SENT or SENT) .. message
  end
end

call('DEL', lock)
return RELEASED
