-- Sets fields of a record that exists; one that has expired is not brought back in part.
--
-- KEYS  record
-- ARGV  pairs of fields and values
-- Returns 1, or 0 if there is no such record.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
