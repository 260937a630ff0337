-- Writes or deletes a value unless somebody with a later fencing token has been here.
--
-- KEYS  value, fence
-- ARGV  token   fencing token of whoever asks
--       keep    how long the token is remembered, in milliseconds
--       action  'set' · 'delete'
--       value   the new value (with 'set' only)
--       ttl     how long the value stays, in milliseconds; '0': for ever (with 'set' only)
--
-- Returns the latest token: the one given if it was written, a later one if nothing was changed.
--
-- Never lowers the token, and remembers it before the value changes, so that whatever the server refuses to
-- this user or for want of memory is refused before anything has happened.

local value, fence = KEYS[1], KEYS[2]
local token, keep, action = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

local latest = call('GET', fence)
if latest and tonumber(latest) > tonumber(token) then
  return latest
end
call('SET', fence, token, 'PX', keep)
if action == 'delete' then
  call('DEL', value)
elseif ARGV[5] == '0' then
  call('SET', value, ARGV[4])
else
  call('SET', value, ARGV[4], 'PX', ARGV[5])
end
return token
