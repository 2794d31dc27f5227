-- Writes what a match has done to its players' ratings, once.
--
-- KEYS  ratings, leaders, applied, then one history for each player
-- ARGV  match, lifetime of the ratings, lifetime of what is applied (seconds),
--       lines kept of a history, then for each player: id, rating it was computed from (or ""),
--       new rating, number shown, line for the history
-- Returns 1 if it is written, 0 if it was before, -1 if a rating has changed: compute again.
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 0 end
for i = 5, #ARGV, 5 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return -1 end
end
for i = 5, #ARGV, 5 do
  local history = KEYS[3 + (i / 5)]
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  redis.call('ZADD', KEYS[2], ARGV[i + 3], ARGV[i])
  redis.call('LPUSH', history, ARGV[i + 4])
  redis.call('LTRIM', history, 0, ARGV[4] - 1)
  redis.call('EXPIRE', history, ARGV[2])
end
redis.call('SADD', KEYS[3], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('EXPIRE', KEYS[3], ARGV[3])
return 1
