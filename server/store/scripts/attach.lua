-- Makes a connection the one that speaks for a player, unless a newer one is known.
--
-- KEYS  summary
-- ARGV  news, player, epoch
-- Returns 1 if it is (also when it already was), 0 if a newer one is, -1 without a journal.
-- Other nodes hear the note "attached PLAYER EPOCH" and drop their older connection.
local field = 'e:' .. ARGV[2]
local known = redis.call('HMGET', KEYS[1], 'at', field)
if not known[1] then return -1 end
local newest, epoch = tonumber(known[2] or 0), tonumber(ARGV[3])
if newest > epoch then return 0 end
if newest < epoch then
  redis.call('HSET', KEYS[1], field, ARGV[3])
  redis.call('SPUBLISH', ARGV[1], '0 attached ' .. ARGV[2] .. ' ' .. ARGV[3])
end
return 1
