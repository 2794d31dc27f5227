-- Appends events to a journal, if it is still at the version they were decided on.
--
-- KEYS  journal, summary
-- ARGV  news              the channel; no key: see act.lua
--       expect            the journal's version; 0 creates it
--       ttl               lifetime of both keys from now on, seconds
--       not before        summary field with an instant before which it is too early, or ""
--       player, epoch     who asks, over which connection; "" for nobody
--       count, payloads   the events
--       count, pairs      summary fields and their values
--       pairs             summary fields and milliseconds, set to the events' time plus that
-- Returns {version, at} of the last event, or {code, number}: "conflict" with the journal's
-- version, "missing", "early" or "replaced" with 0.
local journal, summary, news = KEYS[1], KEYS[2], ARGV[1]
local expect, player, epoch = tonumber(ARGV[2]), ARGV[5], tonumber(ARGV[6])

local version = redis.call('LLEN', journal)
if version ~= expect then
  if version == 0 then return {'missing', 0} end
  return {'conflict', version}
end

local known = redis.call('HMGET', summary, 'at', ARGV[4], 'e:' .. player)
local time = redis.call('TIME')
local at = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(known[1] or 0))
if player ~= '' and tonumber(known[3] or 0) > epoch then return {'replaced', 0} end
if ARGV[4] ~= '' and known[2] and at < tonumber(known[2]) then return {'early', 0} end

local stamp = string.format('%.0f', at)
local fields = {'at', stamp}
if player ~= '' then
  fields[3], fields[4] = 'e:' .. player, ARGV[6]
end

local i = 7
local last = i + tonumber(ARGV[i])
while i < last do
  i = i + 1
  local entry = stamp .. ' ' .. ARGV[i]
  version = redis.call('RPUSH', journal, entry)
  redis.call('SPUBLISH', news, version .. ' ' .. entry)
end

i = i + 1
last = i + 2 * tonumber(ARGV[i])
while i < last do
  fields[#fields + 1], fields[#fields + 2] = ARGV[i + 1], ARGV[i + 2]
  i = i + 2
end
while i < #ARGV do
  fields[#fields + 1] = ARGV[i + 1]
  fields[#fields + 1] = string.format('%.0f', at + ARGV[i + 2])
  i = i + 2
end

redis.call('HSET', summary, unpack(fields))
redis.call('EXPIRE', journal, ARGV[3])
redis.call('EXPIRE', summary, ARGV[3])
return {version, at}
