-- Acquires a lock for an owner token if it is free or that token owns it already. Otherwise queues the token if requested.
--
-- KEYS  lock, last fencing token of its slot, queue
-- ARGV  token      owner token
--       ttl        length of the lease in milliseconds
--       queueMode  0: does not queue · 1, 2: first, later acquire attempt of a token that waits
--                  3: attempt of a token that waits and that no message reaches
--
-- Returns '1 <fencing token> <owned>'   the token owns the lock; owned 1: it did before
--         '0 <milliseconds left or -1> <last fencing token> <joined>'
--                                       another owner holds the lock; joined 1: the token was not in the queue before
--         '2 <milliseconds left or -1> <last fencing token> <joined> <message>'
--                                       as 0; the caller publishes the message
--         As text, which is cheaper than an array; Lua's own conversion of numbers keeps 14 digits only.
--
-- Never shortens a lease and never changes another owner's value. Reads the time before it writes, so a command
-- that this user may not run is refused before anything is changed.

local lock, fencingKey, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, queueMode = ARGV[1], ARGV[2], ARGV[3]
local NONE, JOIN, REJOIN, POLL = '0', '1', '2', '3'
local BUSY, ACQUIRED, BUSY_NOT_SENT = '0 ', '1 ', '2 '
local POLLS = '.polls'
-- a day, in milliseconds: how long the last fencing token is kept
local FENCING_KEEP = '86400000'
local call = redis.call

-- seconds and six digits of microseconds, as text: the common case needs no arithmetic
local time = call('TIME')
local now = time[1] .. (#time[2] == 6 and time[2] or string.format('%06d', time[2]))

local owned = ' 0'
if not call('SET', lock, token, 'NX', 'PX', ttl) then
  local owner = call('GET', lock)
  if owner ~= token then
    local notSent
    local joined = 0
    if queueMode ~= NONE then
      local inboxPrefix = string.match(fencingKey, '^{%d+}:fence:(.*)$') .. 'inbox:'
      local INSTANCE_LENGTH, QUEUE_KEEP, POLL_DELAY = 22, 60000, 1000000
      if queueMode == POLL then
        joined = call('ZADD', queue, 'NX', string.format('%.0f', now + POLL_DELAY), token .. POLLS)
      else
        joined = call('ZADD', queue, 'NX', now, token)
      end
      call('PEXPIRE', queue, QUEUE_KEEP)
      -- only the first in the queue notifies the owner: the others were announced by the one before them, or by
      -- the message that granted the lock (a user who may not run ZCARD notifies it each time)
      local queued = queueMode ~= JOIN or redis.pcall('ZCARD', queue)
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
    local last = tonumber(call('GET', fencingKey) or 0) or 0
    local busy = left .. ' ' .. string.format('%.0f', math.max(last, now - 1)) .. ' ' .. joined
    return notSent and BUSY_NOT_SENT .. busy .. ' ' .. notSent or BUSY .. busy
  end
  if call('PTTL', lock) < tonumber(ttl) then
    call('PEXPIRE', lock, ttl)
  end
  owned = ' 1'
end

if queueMode == REJOIN then
  call('ZREM', queue, token)
elseif queueMode == POLL then
  call('ZREM', queue, token, token .. POLLS)
end

local fencingToken = now
local last = call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP, 'GET')
-- numbers of the same length compare as text, which is cheaper
if last and (#last ~= #fencingToken or last >= fencingToken) then
  last = tonumber(last) or 0
  if last >= tonumber(fencingToken) then
    fencingToken = string.format('%.0f', last + 1)
    call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
  end
end
return ACQUIRED .. fencingToken .. owned
