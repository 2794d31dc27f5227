-- Appends what a player does in a running race. This is the path of every move.
--
-- KEYS  journal, summary
-- ARGV  news     the channel; no key, or a Cluster that moves the two would wait for a third
--       player
--       epoch    the connection it came over; "" where no connection speaks
--       n        the play's number, one more than the last; 0 for an act without one
--       payload  the event
--       pairs    summary fields and their values
-- Returns {version, at}, or {code, last}: why not, and the player's last play number.
local summary, player, n = KEYS[2], ARGV[2], tonumber(ARGV[4])
local play, connection = 'n:' .. player, 'e:' .. player

local known = redis.call('HMGET', summary,
  'at', 'phase', 'start', 'deadline', play, connection, 'done:' .. player)
local last = tonumber(known[5] or 0)
if not known[1] then return {'missing', 0} end

local epoch, newest = tonumber(ARGV[3]), tonumber(known[6] or 0)
if epoch and epoch < newest then return {'replaced', last} end
-- A number that is taken is a repeat whatever has happened since: its sender is owed the
-- first answer, even after the end.
if n > 0 and n <= last then return {'repeat', last} end
if known[7] then return {'done', last} end
if known[2] ~= 'running' then return {'not-running', last} end

local time = redis.call('TIME')
local at = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(known[1]))
if at < tonumber(known[3] or 0) then return {'early', last} end
if known[4] and at >= tonumber(known[4]) then return {'late', last} end
if n > last + 1 then return {'gap', last} end

local stamp = string.format('%.0f', at)
local entry = stamp .. ' ' .. ARGV[5]
local version = redis.call('RPUSH', KEYS[1], entry)
local fields = {'at', stamp}
if n > 0 then
  fields[3], fields[4] = play, ARGV[4]
end
if epoch and epoch > newest then
  fields[#fields + 1], fields[#fields + 2] = connection, ARGV[3]
end
for i = 6, #ARGV do fields[#fields + 1] = ARGV[i] end
redis.call('HSET', summary, unpack(fields))
redis.call('SPUBLISH', ARGV[1], version .. ' ' .. entry)
return {version, at}
