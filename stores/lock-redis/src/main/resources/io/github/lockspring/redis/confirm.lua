-- Counts the subscribers of an inbox as a release does, and sends a message to the inbox.
-- KEYS  any key of the node to ask; it need not exist
-- ARGV  channel, message
--
-- Returns '<subscribers or -1> <sent>'   -1: the user may not count; sent 0: the user may not publish
--
-- Never reads or writes a key.

local channel, message = ARGV[1], ARGV[2]
local UNKNOWN, SENT, NOT_SENT = '-1', ' 1', ' 0'

local subscribers = redis.pcall('PUBSUB', 'NUMSUB', channel)
local published = redis.pcall('PUBLISH', channel, message)
local failed = type(published) == 'table' and published.err
return (subscribers.err and UNKNOWN or string.format('%.0f', subscribers[2])) .. (failed and NOT_SENT or SENT)
