-- Releases a lock: deletes it, hands it over to the first in the queue, or keeps it for a while. Removes the token from
-- the queue.
--
-- KEYS  lock, last fencing token of its slot, queue
-- ARGV  token             owner token
--       lastFencingToken  largest fencing token of this ownership if local hand-offs have raised it, else 0
--       keep              how long to keep the lock, in milliseconds; 0: it is free immediately
--       exactCount        '1' if this server knows every subscriber of an inbox
--
-- Returns '0 <last fencing token>'   the token was not the owner; token 0: unknown
--         '1'                        deleted or kept
--         '2 <sent> <message>'       handed over; sent 0: the caller publishes the message
-- Never changes a lock of another owner. PUBLISH comes last, and its failure is not an error, since an error would hide
-- from the caller that the script has already written.

local lock, fencingKey, queue = KEYS[1], KEYS[2], KEYS[3]
local token, lastFencingToken, keep = ARGV[1], ARGV[2], ARGV[3]
local NOT_OWNER, RELEASED = '0 ', '1'
-- how long the last fencing token is kept: a day, in milliseconds
local FENCING_KEEP = '86400000'
local call = redis.call

local owner = call('GET', lock)
if owner ~= token then
  call('ZREM', queue, token)
  if owner == token .. '.kept' then
    -- written again, since replicas acknowledge only writes
    call('PEXPIRE', lock, math.max(1, call('PTTL', lock)))
    return RELEASED
  end
  return NOT_OWNER .. string.format('%.0f', tonumber(call('GET', fencingKey) or 0) or 0)
end

-- While a cluster slot migrates, a script runs only if all its keys are on this node, and then fails if it uses a key
-- that it has deleted, such as the queue after its last waiter.
local queued = call('EXISTS', queue) == 1

-- A server that is out of memory rejects a script whose first write needs memory, but not its later writes. So the first
-- write, here and before a hand-over, never needs any.
if queued or lastFencingToken ~= '0' or keep ~= '0' then
  call('ZREM', queue, token)
end

if lastFencingToken ~= '0' and tonumber(lastFencingToken) > (tonumber(call('GET', fencingKey) or 0) or 0) then
  call('SET', fencingKey, lastFencingToken, 'PX', FENCING_KEEP)
end

if keep ~= '0' then
  -- differs from every token, so it is not notified, renewed or released
  call('SET', lock, token .. '.kept', 'PX', keep)
  return RELEASED
end

if not queued then
  call('DEL', lock)
  return RELEASED
end

local inboxPrefix, exactCount = string.match(fencingKey, '^{%d+}:fence:(.*)$') .. 'inbox:', ARGV[4]
local SENT, NOT_SENT = '2 1 ', '2 0 '
local INSTANCE_LENGTH, MICROS_PER_SECOND, MAX_DEAD_WAITERS, SHORT_GRANT = 22, 1000000, 32, 500

local function parse(member)
  local instance, grant = string.match(member, '^([%w_-]+)%.%d+%.([1-9]%d?%d?%d?)$')
  if instance and #instance == INSTANCE_LENGTH then
    return inboxPrefix .. instance, grant
  end
end

-- Returns whether a waiter will notice its grant. A short grant needs no message, since the next attempt finds it.
local function isReached(inbox, grant)
  if exactCount ~= '1' or tonumber(grant) <= SHORT_GRANT then
    return true
  end
  -- an error, such as an ACL that forbids the command, counts as subscribed
  local subscribers = redis.pcall('PUBSUB', 'NUMSUB', inbox)
  return subscribers.err ~= nil or subscribers[2] ~= 0
end

local function isDeleted(reply)
  return string.find(reply.err, 'non local key', 1, true)
end

for _ = 1, MAX_DEAD_WAITERS do
  local popped = redis.pcall('ZPOPMIN', queue)
  if popped.err and not isDeleted(popped) then
    return popped
  end
  local waiter = popped[1]
  if not waiter then
    break
  end
  local inbox, grant = parse(waiter)
  if inbox and isReached(inbox, grant) then
    local time = call('TIME')
    local last = tonumber(call('GET', fencingKey) or 0) or 0
    local fencingToken = string.format('%.0f', math.max(last + 1, time[1] * MICROS_PER_SECOND + time[2]))
    call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
    call('SET', lock, waiter, 'PX', grant)
    local others = redis.pcall('EXISTS', queue) == 1 and '1' or '0'
    local message = 'g ' .. waiter .. ' ' .. fencingToken .. ' ' .. others .. ' ' .. lock
    local published = redis.pcall('PUBLISH', inbox, message)
    local failed = type(published) == 'table' and published.err
    return (failed and NOT_SENT or SENT) .. message
  end
end

call('DEL', lock)
return RELEASED
