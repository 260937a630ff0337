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
-- Returns {0, fence}                               the token was not the owner; fence: '0' if not known
--         {1}                                      freed, or kept
--         {2, new owner, its fence, message, sent} handed over; sent 0: the caller publishes the message
--
-- Never changes a lock of another owner. PUBLISH comes last and its failure is not an error, since an error
-- would hide from the caller what was already written.

local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, lastFence, keep, fenceKeep, inboxPrefix, exactCount = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local NOT_OWNER, RELEASED, HANDED_OVER = 0, 1, 2
local NOT_SENT, SENT = 0, 1
local INSTANCE_LENGTH, MICROS_PER_SECOND, MOST_DEAD_WAITERS = 22, 1000000, 32
-- not the form of a token: nobody publishes to it, renews or releases it
local kept = token .. '.kept'

local function text(number)
  return string.format('%.0f', number)
end

local function fenceSeen()
  return tonumber(redis.call('GET', fence) or 0) or 0
end

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

local owner = redis.call('GET', lock)
if owner ~= token then
  redis.call('ZREM', queue, token)
  if owner == kept then
    return { RELEASED }
  end
  return { NOT_OWNER, text(fenceSeen()) }
end

-- A server without memory refuses a script's first write if that needs some, but none after it. So the first
-- one, here and before handing over, is always one that needs none.
if tonumber(lastFence) > 0 or tonumber(keep) > 0 then
  redis.call('ZREM', queue, token)
end

if tonumber(lastFence) > 0 and tonumber(lastFence) > fenceSeen() then
  redis.call('SET', fence, lastFence, 'PX', fenceKeep)
end

if tonumber(keep) > 0 then
  redis.call('SET', lock, kept, 'PX', keep)
  return { RELEASED }
end

if redis.call('EXISTS', queue) == 1 then
  redis.call('ZREM', queue, token)
  for _ = 1, MOST_DEAD_WAITERS do
    local waiter = redis.call('ZPOPMIN', queue)[1]
    if not waiter then
      break
    end
    local inbox, grant = parse(waiter)
    if inbox and isSubscribed(inbox) then
      local time = redis.call('TIME')
      local next = text(math.max(fenceSeen() + 1, time[1] * MICROS_PER_SECOND + time[2]))
      redis.call('SET', fence, next, 'PX', fenceKeep)
      redis.call('SET', lock, waiter, 'PX', grant)
      local others = redis.call('EXISTS', queue)
      local message = 'g ' .. waiter .. ' ' .. next .. ' ' .. others .. ' ' .. lock
      local published = redis.pcall('PUBLISH', inbox, message)
      local failed = type(published) == 'table' and published.err
      return { HANDED_OVER, waiter, next, message, failed and NOT_SENT or SENT }
    end
  end
end

redis.call('DEL', lock)
return { RELEASED }
