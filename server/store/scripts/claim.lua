-- Takes due timers for a while: each is put off by the lease, so that it comes due again
-- if its claimant dies.
--
-- KEYS  timers
-- ARGV  now in milliseconds, or "" for the store's own clock
--       lease in milliseconds
--       how many at most
-- Returns member, instant it was put off to, member, ...
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[3])
local put_off = string.format('%.0f', now + ARGV[2])
local claims = {}
for _, member in ipairs(due) do
  redis.call('ZADD', KEYS[1], put_off, member)
  claims[#claims + 1] = member
  claims[#claims + 1] = put_off
end
return claims
