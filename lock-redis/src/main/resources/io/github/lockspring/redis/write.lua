-- Writes or deletes a value unless a later fencing token has written it.
--
-- KEYS  value, latest fencing token
-- ARGV  fencingToken  fencing token of the writer
--       keep          how long the fencing token is kept, in milliseconds
--       action        'set' · 'delete'
--       value         the new value ('set' only)
--       ttl           how long the value is kept, in milliseconds; '0': without limit ('set' only)
--
-- Returns the latest fencing token: the given one if the value was written, a later one if nothing was changed.
--
-- Never lowers the fencing token. Writes it before the value changes, so a command that this user may not run, or
-- for which there is no memory, is refused before anything is changed.

local value, fencingKey = KEYS[1], KEYS[2]
local fencingToken, keep, action = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

local latest = call('GET', fencingKey)
if latest and tonumber(latest) > tonumber(fencingToken) then
  return latest
end
call('SET', fencingKey, fencingToken, 'PX', keep)
if action == 'delete' then
  call('DEL', value)
elseif ARGV[5] == '0' then
  call('SET', value, ARGV[4])
else
  call('SET', value, ARGV[4], 'PX', ARGV[5])
end
return fencingToken
