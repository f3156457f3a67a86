-- The five requests of journey.yaml for wrk, which sends them in turn and reads nothing of the answers.
local id = '5f0c9a4e-7d21-4c58-9b1a-2f6e8c3d7b90'
local json = { ['Content-Type'] = 'application/json' }
local all, at = {}, 0

function init()
  all = {
    wrk.format('POST', '/sessions', json, '{"user":"shopper-17"}'),
    wrk.format('GET', '/products?category=Dairy&limit=8'),
    wrk.format('POST', '/sessions/' .. id .. '/items', json, '{"product_id":"p-1017","quantity":2}'),
    wrk.format('GET', '/sessions/' .. id .. '/coupons'),
    wrk.format('POST', '/sessions/' .. id .. '/orders', json, '{"coupon":"c-3","total":3.58}'),
  }
end

function request()
  at = at % #all + 1
  return all[at]
end

function done(summary)
  local e, seconds = summary.errors, summary.duration / 1e6
  print(string.format('{"requests":%d,"journeys":%.17g,"failed":%d,"requests/s":%.17g,"journeys/s":%.17g}', summary.requests,
    summary.requests / 5, e.connect + e.read + e.write + e.status + e.timeout, summary.requests / seconds, summary.requests / seconds / 5))
end
