"""What Redis keeps of the limits that all workers share, and the scripts that change it. The clock is Redis' own.

Keys, after `arena:limits:`

* `epoch`: when the first of these keys was made, in ms. A Redis without it was emptied: it grants nothing until all
  workers have told what they hold.
* `workers`: sorted set of the processes that make calls, by the end of their lease.
* `models`: set of the models that were asked, by id.
* `slots:MODEL`: hash of the calls under way, by process.
* `queue:MODEL`: hash of those that wait, by process: since when the first waits, when it asked last, how many wait.
* `minute:MODEL`: hash of the requests (`r:SECOND`) and tokens (`t:SECOND`) of the last minute.
* `state:MODEL`: hash of its name, its limits, and until when the provider takes no requests (`closed`, in ms).

A process is the only one that writes its slots, and always as their whole number: what is said twice, or late, is true.
"""

from experiments.gateway.types import Deadlines

PREFIX = "arena:limits:"
RENEW_SECONDS = 1.0  # how often each process tells what it holds
OPENS_SECONDS = 3.0  # after it was emptied, until Redis grants slots: each process has told by then what it holds
# The slots of a process that is silent stay its own for so long: the longest call that it may have begun without Redis
# has ended by then. `SPARE_SECONDS` after it lost Redis it may begin another call of that length in one of them.
SPARE_SECONDS = 300.0
LEASE_SECONDS = Deadlines().total + SPARE_SECONDS
STALE_SECONDS = 1.5  # after which somebody who waits and did not ask again has gone
LONGEST_PAUSE_SECONDS = 1.0  # between two questions of somebody who waits
MINUTE = 60
KEPT_SECONDS = 3600  # of a model that nobody asks any more


def guaranteed(limit: int, workers: int) -> int:
    """How many slots of a model each worker can have whatever the others hold, and so also without Redis: about a
    quarter of its equal share, so that one that is busy alone can have most of the rest. 0 where the limit is too low.
    """
    if workers <= 1:
        return limit
    return max(1, limit // (4 * workers)) if limit >= 2 * workers else 0


_COMMON = f"""
local prefix = '{PREFIX}'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('GET', prefix .. 'epoch')
if epoch then epoch = tonumber(epoch)
else
  epoch = now
  redis.call('SET', prefix .. 'epoch', string.format('%.0f', now))
end
local lease = {LEASE_SECONDS * 1000:.0f}
"""

BEGIN = f"{_COMMON} return epoch"

# ARGV: process, model; how many calls it has under way, the limit; for how long the call has waited (ms), how many
# wait; requests and tokens a minute (0: no limit), the tokens of this call.
# Returns whether it has a slot, else after how many ms to ask again (0: soon); the time, the epoch, how many workers.
ASK = f"""{_COMMON}
local process, model = ARGV[1], ARGV[2]
local held, limit, waited, waits = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local most_requests, most_tokens, tokens = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local slots, queue = prefix .. 'slots:' .. model, prefix .. 'queue:' .. model
local minute, state = prefix .. 'minute:' .. model, prefix .. 'state:' .. model

-- For as long again as its lease a silent worker has what is guaranteed to it: it may have begun calls since.
redis.call('ZADD', prefix .. 'workers', now + lease, process)
redis.call('ZREMRANGEBYSCORE', prefix .. 'workers', '-inf', now - lease)
local listed, leases, workers = redis.call('ZRANGE', prefix .. 'workers', 0, -1, 'WITHSCORES'), {{}}, 0
for i = 1, #listed, 2 do
  leases[listed[i]] = tonumber(listed[i + 1])
  workers = workers + 1
end
local guaranteed = 0
if limit >= 2 * workers then guaranteed = math.max(1, math.floor(limit / (4 * workers))) end

local counted, theirs, used = redis.call('HGETALL', slots), {{}}, held
for i = 1, #counted, 2 do
  if leases[counted[i]] then theirs[counted[i]] = tonumber(counted[i + 1])
  else redis.call('HDEL', slots, counted[i]) end
end
for other, ends in pairs(leases) do
  if other ~= process then
    local count = 0
    if ends > now then count = theirs[other] or 0 end
    used = used + math.max(count, guaranteed)
  end
end

local since, before = now - waited, 0
local waiting = redis.call('HGETALL', queue)
for i = 1, #waiting, 2 do
  local first, seen = string.match(waiting[i + 1], '^(%d+) (%d+)')
  if now - tonumber(seen) > {STALE_SECONDS * 1000:.0f} then redis.call('HDEL', queue, waiting[i])
  elseif waiting[i] ~= process and tonumber(first) < since and held >= guaranteed then before = before + 1 end
end

local function refuse(pause)
  redis.call('HSET', slots, process, held)
  redis.call('HSET', queue, process, string.format('%.0f %.0f %.0f', since, now, waits))
  return {{0, math.min(pause, {LONGEST_PAUSE_SECONDS * 1000:.0f}), now, epoch, workers}}
end

local opens = epoch + {OPENS_SECONDS * 1000:.0f}
local shut = math.max(opens, tonumber(redis.call('HGET', state, 'closed') or '0')) - now
if shut > 0 then return refuse(shut) end
if used + before >= limit then return refuse(0) end

if most_requests > 0 or most_tokens > 0 then
  local second, requests, taken = math.floor(now / 1000), 0, 0
  local oldest = second
  local booked = redis.call('HGETALL', minute)
  for i = 1, #booked, 2 do
    local kind, at = string.match(booked[i], '^(%a):(%d+)$')
    if tonumber(at) < second - {MINUTE} then redis.call('HDEL', minute, booked[i])
    else
      oldest = math.min(oldest, tonumber(at))
      if kind == 'r' then requests = requests + booked[i + 1] else taken = taken + booked[i + 1] end
    end
  end
  if (most_requests > 0 and requests + before + 1 > most_requests)
    or (most_tokens > 0 and taken > 0 and taken + (before + 1) * tokens > most_tokens) then
    return refuse((oldest + {MINUTE + 1}) * 1000 - now)
  end
  redis.call('HINCRBY', minute, 'r:' .. second, 1)
  redis.call('HINCRBY', minute, 't:' .. second, tokens)
  redis.call('EXPIRE', minute, {2 * MINUTE})
end
redis.call('HSET', slots, process, held + 1)
redis.call('HDEL', queue, process)
return {{1, 0, now, epoch, workers}}
"""

# ARGV: what a process tells, as JSON (`shared_limits.ToldModel`). Returns the time, the epoch, how many workers.
TELL = f"""{_COMMON}
local told = cjson.decode(ARGV[1])
for _, gone in ipairs(told.dead) do redis.call('ZREM', prefix .. 'workers', gone) end
if told.leaves then redis.call('ZREM', prefix .. 'workers', told.process)
else redis.call('ZADD', prefix .. 'workers', now + lease, told.process) end
for _, one in ipairs(told.models) do
  local slots, queue = prefix .. 'slots:' .. one.id, prefix .. 'queue:' .. one.id
  local minute, state = prefix .. 'minute:' .. one.id, prefix .. 'state:' .. one.id
  if told.leaves then redis.call('HDEL', slots, told.process)
  else redis.call('HSET', slots, told.process, one.held) end
  redis.call('PEXPIRE', slots, 2 * lease)
  if one.waits == 0 then redis.call('HDEL', queue, told.process) end
  redis.call('HSET', state, 'provider', one.provider, 'model', one.model, 'limit', one.limit,
    'requests', one.requests, 'tokens', one.tokens)
  if one.closed > 0 and now + one.closed > tonumber(redis.call('HGET', state, 'closed') or '0') then
    redis.call('HSET', state, 'closed', string.format('%.0f', now + one.closed))
  end
  redis.call('EXPIRE', state, {KEPT_SECONDS})
  redis.call('SADD', prefix .. 'models', one.id)
  for _, booked in ipairs(one.booked) do
    if booked[2] > 0 or told.epoch == epoch then  -- a correction is none where what it corrects was forgotten
      redis.call('HINCRBY', minute, 'r:' .. booked[1], booked[2])
      redis.call('HINCRBY', minute, 't:' .. booked[1], booked[3])
      redis.call('EXPIRE', minute, {2 * MINUTE})
    end
  end
end
return {{now, epoch, redis.call('ZCARD', prefix .. 'workers')}}
"""
