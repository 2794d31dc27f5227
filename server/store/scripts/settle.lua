-- Ends a claimed timer, or sets it anew, unless somebody has set it since the claim.
--
-- KEYS  timers
-- ARGV  member
--       the instant the claim put it off to
--       next instant, or "" to end it
-- Returns 1 if it was ended or set, 0 if a newer setting stands.
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
end
return 1
