-- Redlock: acquires a lock on one node, as the node's vote, if the lock is free or already owned by the token.
--
-- KEYS  lock, last fencing token of its slot
-- ARGV  token     owner token
--       attempt   number of the attempt, larger than all earlier ones of this token; to restore a vote of a held lock,
--                 the number of the attempt that acquired it
--       ttl       length of the lease in milliseconds
--       pause     for how many seconds after its start the server must not vote; 0: it may always vote
--       identify  '1' if the reply must name the server
--
-- Returns '1 <run id> <fencing token>'                                          the token owns the lock here
--         '0 <run id> <milliseconds left or -1> <last fencing token> <owner>'   another owner holds the lock
--         '2 <run id> <seconds since its start> <seconds left>'                 the server started too recently to vote
--         '3 <error>'                                                           the server's start is unknown
--         The run id is '-' if it was not requested.
-- Never shortens a lease, never changes another owner's value, never lowers the number of the attempt, and never writes
-- the fencing token, since only the majority's token may be kept. Checks here whether the server may have lost a lock in
-- a restart, since the client may not have noticed the restart.

local lock, fencingKey = KEYS[1], KEYS[2]
local token, attempt, ttl, pause, identify = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local OWNED_BY_OTHER, GRANTED, TOO_RECENT, UNKNOWN_START = '0 ', '1 ', '2 ', '3 '
local call = redis.call

local server = '- '
if pause ~= '0' or identify == '1' then
  local info = redis.pcall('INFO', 'server')
  if type(info) ~= 'string' then
    return UNKNOWN_START .. info.err
  end
  local uptime = string.match(info, 'uptime_in_seconds:(%d+)')
  server = (string.match(info, 'run_id:(%w+)') or '-') .. ' '
  if not uptime then
    return UNKNOWN_START .. 'INFO names no uptime_in_seconds'
  end
  local left = tonumber(pause) - tonumber(uptime)
  if left > 0 then
    return TOO_RECENT .. server .. uptime .. ' ' .. string.format('%.0f', left)
  end
end

local time = call('TIME')
local now = time[1] .. string.format('%06d', time[2])
local mine = token .. ':' .. attempt

if not call('SET', lock, mine, 'NX', 'PX', ttl) then
  local owner = call('GET', lock)
  local present = string.sub(owner, 1, #token + 1) == token .. ':' and string.match(owner, ':(%d+)$')
  if not present then
    local left = string.format('%.0f', call('PTTL', lock))
    local last = tonumber(call('GET', fencingKey) or 0) or 0
    return OWNED_BY_OTHER .. server .. left .. ' ' .. string.format('%.0f', math.max(last, now - 1)) .. ' ' .. owner
  end
  if tonumber(attempt) > tonumber(present) then
    call('SET', lock, mine, 'KEEPTTL')
  end
  if call('PTTL', lock) < tonumber(ttl) then
    call('PEXPIRE', lock, ttl)
  end
end

local last = tonumber(call('GET', fencingKey) or 0) or 0
return GRANTED .. server .. string.format('%.0f', math.max(last + 1, now))
