-- Counts a connection of a player and renews the record's lifetime.
--
-- Connections are numbered by the clock, so that a record which has lost its last moments
-- gives no number that a room, kept elsewhere, has seen before.
--
-- KEYS  player
-- ARGV  lifetime in seconds
--       run, line   how the client counts its connections; "" where it does not
-- Returns {the connection's number, the token's hash}, with 0 for one that is older than
-- another of the same run; nothing if there is no such player.
local known = redis.call('HMGET', KEYS[1], 'token', 'run', 'line', 'epoch')
if not known[1] then return false end
if ARGV[2] ~= '' then
  if known[2] == ARGV[2] and tonumber(ARGV[3]) < tonumber(known[3]) then return {0, known[1]} end
  redis.call('HSET', KEYS[1], 'run', ARGV[2], 'line', ARGV[3])
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = math.max(now, tonumber(known[4] or 0) + 1)
redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {epoch, known[1]}
