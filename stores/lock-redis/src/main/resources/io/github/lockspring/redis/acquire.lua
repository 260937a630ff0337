-- Acquires a lock for an owner token if it is free or already owned by that token. Otherwise queues the token if requested.
--
-- KEYS  lock, last fencing token of its slot, queue
-- ARGV  token      owner token
--       ttl        length of the lease in milliseconds
--       queue      1: the token joins the queue, or stays in it, if another owner holds the lock · 0: it does not
--
-- Returns '1 <fencing token>'   the token owns the lock
--         '0 <milliseconds left or -1> <last fencing token>'
--                               another owner holds the lock
--         '2 <milliseconds left or -1> <last fencing token> <message>'
--                               as 0; the caller publishes the message
--         Text is cheaper than an array, and Lua's own conversion of numbers keeps only 14 digits.
-- Never shortens a lease and never changes another owner's value. Reads the time before it writes: if the user may not
-- run this command, the script fails before it changes anything.

local lock, fencingKey, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, queues = ARGV[1], ARGV[2], ARGV[3]
local BUSY, ACQUIRED, BUSY_NOT_SENT = '0 ', '1 ', '2 '
-- how long the last fencing token is kept: a day, in milliseconds
local FENCING_KEEP = '86400000'
local call = redis.call

-- seconds and six digits of microseconds, as text, since the common case needs no arithmetic
local time = call('TIME')
local now = time[1] .. (#time[2] == 6 and time[2] or string.format('%06d', time[2]))

if not call('SET', lock, token, 'NX', 'PX', ttl) then
  local owner = call('GET', lock)
  if owner ~= token then
    local notSent
    if queues == '1' then
      local inboxPrefix = string.match(fencingKey, '^{%d+}:fence:(.*)$') .. 'inbox:'
      local INSTANCE_LENGTH, QUEUE_KEEP, SHORT_GRANT, DELAY_WITHOUT_MESSAGE = 22, 60000, 500, 1000000
      local grant = tonumber(string.match(token, '%.(%d+)$'))
      -- a token that needs no message queues behind the others, since it may miss its turn
      local turn = (grant and grant <= SHORT_GRANT) and string.format('%.0f', now + DELAY_WITHOUT_MESSAGE) or now
      local added = call('ZADD', queue, 'NX', turn, token)
      call('PEXPIRE', queue, QUEUE_KEEP)
      -- notifies the owner of the first waiter; a later one was announced by the one before it or by the message that
      -- granted the lock. Notifies again for a token that has waited before, since a message may have been lost, and
      -- always if the user may not run ZCARD
      local queued = added == 1 and redis.pcall('ZCARD', queue)
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
    local busy = left .. ' ' .. string.format('%.0f', math.max(last, now - 1))
    return notSent and BUSY_NOT_SENT .. busy .. ' ' .. notSent or BUSY .. busy
  end
  if call('PTTL', lock) < tonumber(ttl) then
    call('PEXPIRE', lock, ttl)
  end
end

if queues == '1' then
  call('ZREM', queue, token)
end

local fencingToken = now
local last = call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP, 'GET')
-- numbers of the same length are compared as text, which is cheaper
if last and (#last ~= #fencingToken or last >= fencingToken) then
  last = tonumber(last) or 0
  if last >= tonumber(fencingToken) then
    fencingToken = string.format('%.0f', last + 1)
    call('SET', fencingKey, fencingToken, 'PX', FENCING_KEEP)
  end
end
return ACQUIRED .. fencingToken
