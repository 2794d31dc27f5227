-- Gives a player another token, if it was the given tournament that made the player.
-- Connections of before are numbered lower than one that could come now.
--
-- KEYS  player
-- ARGV  the tournament's code, the new token's hash
-- Returns the former token's hash; nothing if there is no such player of that tournament.
local known = redis.call('HMGET', KEYS[1], 'token', 'enrolled', 'epoch')
if not known[1] or known[2] ~= ARGV[1] then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = math.max(now, tonumber(known[3]) + 1)
redis.call('HSET', KEYS[1], 'token', ARGV[2], 'epoch', string.format('%.0f', epoch))
return known[1]
