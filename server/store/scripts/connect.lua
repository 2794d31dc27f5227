-- Counts a connection of a player and renews the record's lifetime.
--
-- KEYS  player
-- ARGV  lifetime in seconds
-- Returns {the connection's number, the token's hash}, or nothing if there is no such player.
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {epoch, redis.call('HGET', KEYS[1], 'token')}
