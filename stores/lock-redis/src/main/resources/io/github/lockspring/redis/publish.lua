-- Publishes a message from the node that holds a key, whatever the channel is.
--
-- KEYS  any key of that node; need not exist
-- ARGV  channel, message
--
-- Returns '1'
--
-- Never reads or writes a key.

redis.call('PUBLISH', ARGV[1], ARGV[2])
return '1'
