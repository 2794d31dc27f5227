-- Writes the record of a new player, if the id is free or holds the same token already
-- (the request was sent twice).
--
-- KEYS  player
-- ARGV  lifetime in seconds, the token's hash, then pairs of fields and values
-- Returns 1, or 0 if the id is somebody else's.
local token = redis.call('HGET', KEYS[1], 'token')
if token then return token == ARGV[2] and 1 or 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[2], 'epoch', 0, unpack(ARGV, 3))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
