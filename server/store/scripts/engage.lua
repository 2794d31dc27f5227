-- Notes the tournament that a player plays in, unless there is another one.
--
-- KEYS  player
-- ARGV  the tournament's code
--       the code of another one that has been found over, or ""
-- Returns the code that stands afterwards; without a record of the player, the one given.
if redis.call('EXISTS', KEYS[1]) == 0 then return ARGV[1] end
local known = redis.call('HGET', KEYS[1], 'tournament') or ''
if known ~= '' and known ~= ARGV[1] and known ~= ARGV[2] then return known end
redis.call('HSET', KEYS[1], 'tournament', ARGV[1])
return ARGV[1]
