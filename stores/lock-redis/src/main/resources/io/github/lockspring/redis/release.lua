-- Releases a lock: deletes it, hands it over to the first in the queue, or keeps it for a while. Leaves the queue.
--
-- KEYS  lock, last fencing token of its slot, queue
-- ARGV  token             owner token
--       lastFencingToken  largest fencing token of this ownership if it was raised outside of Redis, else 0
--       keep              how long the lock stays held, in milliseconds; 0: it is free immediately
--       exactCount        '1' if this server knows every subscriber of an inbox
--
-- Returns '0 <last fencing token>'   the token was not the owner; 0: the fencing token is not known
--         '1'                        deleted, kept, or handed over to a token that no message reaches
--         '2 <sent> <message>'       handed over; sent 0: the caller publishes the message
--
-- Never changes a lock of another owner. PUBLISH is the last command and its failure is not an error, since an error
-- would hide from the caller what has already been written.

local lock, fencingKey, queue = KEYS[1], KEYS[2], KEYS[3]
local token, lastFencingToken, keep = ARGV[1], ARGV[2], ARGV[3]
local NOT_OWNER, RELEASED = '0 ', '1'
local POLLS = '.polls'
-- a day, in milliseconds: how long the last fencing token is kept
local FENCING_KEEP = '86400000'
local call = redis.call

local owner = call('GET', lock)
if owner ~= token then
  call('ZREM', queue, token, token .. POLLS)
  if owner == token .. '.kept' then
    -- written again: replicas acknowledge only what is written
    call('PEXPIRE', lock, math.max(1, call('PTTL', lock)))
    return RELEASED
  end
  return NOT_OWNER .. string.format('%.0f', tonumber(call('GET', fencingKey) or 0) or 0)
end

-- While its cluster slot migrates, a script runs if all its keys are on this node, and cannot use one that has been
-- deleted since it began: the queue, when its last waiter has left.
local queued = call('EXISTS', queue) == 1

-- A server without memory refuses a script's first write if that needs memory, but no later write. So the first one,
-- here and before a hand-over, never needs any.
if queued or lastFencingToken ~= '0' or keep ~= '0' then
  call('ZREM', queue, token, token .. POLLS)
end

if lastFencingToken ~= '0' and tonumber(lastFencingToken) > (tonumber(call('GET', fencingKey) or 0) or 0) then
  call('SET', fencingKey, lastFencingToken, 'PX', FENCING_KEEP)
end

if keep ~= '0' then
  -- not the form of a token: it is not notified, renewed or released
  call('SET', lock, token .. '.kept', 'PX', keep)
  return RELEASED
end

if not queued then
  call('DEL', lock)
  return RELEASED
end

local inboxPrefix, exactCount = string.match(fencingKey, '^{%d+}:fence:(.*)$') .. 'inbox:', ARGV[4]
local SENT, NOT_SENT = '2 1 ', '2 0 '
local INSTANCE_LENGTH, MICROS_PER_SECOND, MAX_DEAD_WAITERS, MAX_POLL_GRANT = 22, 1000000, 32, 500

local function parse(member)
  local waiter, instance, grant, mark = string.match(member, '^(([%w_-]+)%.%d+%.([1-9]%d?%d?%d?))(.*)$')
  if instance and #instance == INSTANCE_LENGTH and (mark == '' or mark == POLLS) then
    return waiter, inboxPrefix .. instance, grant, mark == POLLS
  end
end

local function isSubscribed(inbox)
  if exactCount ~= '1' then
    return true
  end
  -- before anything is written; an error (an ACL forbids the command) counts as subscribed
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
  local member = popped[1]
  if not member then
    break
  end
  local waiter, inbox, grant, polls = parse(member)
  if waiter and (polls or isSubscribed(inbox)) then
    local time = call('TIME')
    local last = tonumber(call('GET', fencingKey) or 0) or 0
    local fencingToken = string.format('%.0f', math.max(last + 1, time[1] * MICROS_PER_SECOND + time[2]))
    call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
    call('SET', lock, waiter, 'PX', polls and math.min(grant, MAX_POLL_GRANT) or grant)
    if polls then
      return RELEASED
    end
    local others = redis.pcall('EXISTS', queue) == 1 and '1' or '0'
    local message = 'g ' .. waiter .. ' ' .. fencingToken .. ' ' .. others .. ' ' .. lock
    local published = redis.pcall('PUBLISH', inbox, message)
    local failed = type(published) == 'table' and published.err
    return (failed and NOT_SENT or SENT) .. message
  end
end

call('DEL', lock)
return RELEASED
