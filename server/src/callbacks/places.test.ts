import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Places } from './places.ts'

const [a, b] = [1n, 2n]

it('an agent with a claim under way is given no further places until it has ended', () => {
  const places = new Places({ widest: 8, maxInFlight: 100 })
  expect(places.reserve(a)).toBe(8)
  expect(places.isReservedFor(a)).toBe(true)
  expect(places.reserve(a)).toBe(0)
  places.take(a, 3)
  expect(places.isReservedFor(a)).toBe(false)
  expect(places.underWayOf(a)).toBe(3)
  expect(places.reserve(a)).toBe(5)
})

it('places that a claim did not need are free at once, and all of them where it failed', () => {
  const places = new Places({ widest: 100, maxInFlight: 100 })
  const most = places.reserve(a)
  places.take(a, 1)
  expect(places.underWay).toBe(1)
  places.reserve(b)
  places.take(b, 0)
  expect(places.reserve(a)).toBe(most - 2)
})

it('a place is free when its callback was accepted, before that is recorded', () => {
  const places = new Places({ widest: 4, maxInFlight: 100 })
  places.take(a, places.reserve(a))
  expect(places.reserve(a)).toBe(0)
  places.accepted(a)
  expect(places.reserve(a)).toBe(1)
  places.take(a, 1)
  places.recorded(a, true)
  expect(places.underWayOf(a)).toBe(4)
})

it('after a failure a place is free only once that is recorded', () => {
  const places = new Places({ widest: 4, maxInFlight: 100 })
  places.take(a, places.reserve(a))
  expect(places.reserve(a)).toBe(0)
  places.recorded(a, false)
  expect(places.underWayOf(a)).toBe(3)
  expect(places.reserve(a)).toBe(1)
})

it('while as many results as there are places are not recorded, nothing is reserved', () => {
  const places = new Places({ widest: 4, maxInFlight: 8 })
  for (const agentId of [a, b]) {
    places.take(agentId, places.reserve(agentId))
    while (places.underWayOf(agentId) > 0) places.accepted(agentId)
  }
  for (let agentId = 3n; !places.isFull; agentId++) {
    places.take(agentId, places.reserve(agentId))
    while (places.underWayOf(agentId) > 0) places.accepted(agentId)
  }
  expect(places.underWay).toBe(0)
  expect(places.reserve(a)).toBe(0)
  places.recorded(a, true)
  expect(places.reserve(a)).toBeGreaterThan(0)
})

it('seventy agents that do not answer leave a place for one more', () => {
  const places = new Places({ widest: 64, maxInFlight: 1_000 })
  for (let agentId = 1n; agentId <= 70n; agentId++) {
    const most = places.reserve(agentId)
    expect(most).toBeGreaterThan(0)
    places.take(agentId, most)
  }
  // Those who come again, with places of their own, get nothing of what is left for others.
  for (let agentId = 1n; agentId <= 70n; agentId++) {
    const most = places.reserve(agentId)
    if (most > 0) places.take(agentId, most)
  }
  expect(places.reserve(71n)).toBeGreaterThan(0)
})

it('in any order of events the bounds hold, and nothing stays taken in the end', () => {
  const step = fc.record({
    agentId: fc.bigInt(1n, 6n),
    event: fc.constantFrom('reserve', 'take', 'accept', 'fail', 'record'),
    share: fc.nat(100),
  })
  const bounds = fc.record({
    widest: fc.integer({ min: 1, max: 20 }),
    maxInFlight: fc.integer({ min: 1, max: 60 }),
  })
  fc.assert(
    fc.property(bounds, fc.array(step, { maxLength: 200 }), (options, steps) => {
      const places = new Places(options)
      const reserved = new Map<bigint, number>()
      const underWay = new Map<bigint, number>()
      const failed = new Map<bigint, number>()
      let accepted: bigint[] = []
      const of = (counts: Map<bigint, number>, agentId: bigint) => counts.get(agentId) ?? 0
      const sum = (counts: Map<bigint, number>) => [...counts.values()].reduce((x, y) => x + y, 0)
      for (const { agentId, event, share } of steps) {
        const own = of(underWay, agentId)
        if (event === 'reserve') {
          const wasFull = places.isFull
          const most = places.reserve(agentId)
          if (wasFull || reserved.has(agentId)) expect(most).toBe(0)
          if (most > 0) reserved.set(agentId, most)
        } else if (event === 'take' && reserved.has(agentId)) {
          const callbacks = Math.floor((of(reserved, agentId) * share) / 100)
          places.take(agentId, callbacks)
          reserved.delete(agentId)
          underWay.set(agentId, own + callbacks)
        } else if (event === 'accept' && own > of(failed, agentId)) {
          places.accepted(agentId)
          underWay.set(agentId, own - 1)
          accepted.push(agentId)
        } else if (event === 'fail' && own > of(failed, agentId)) {
          failed.set(agentId, of(failed, agentId) + 1)
        } else if (event === 'record') {
          for (const each of accepted) places.recorded(each, true)
          accepted = []
          for (const [each, count] of failed) {
            for (let at = 0; at < count; at++) places.recorded(each, false)
            underWay.set(each, of(underWay, each) - count)
          }
          failed.clear()
        }
        expect(places.underWayOf(agentId)).toBe(of(underWay, agentId))
        expect(of(underWay, agentId) + of(reserved, agentId)).toBeLessThanOrEqual(options.widest)
        expect(places.underWay).toBe(sum(underWay))
        expect(sum(underWay) + sum(reserved)).toBeLessThanOrEqual(options.maxInFlight)
      }
      for (const agentId of reserved.keys()) places.take(agentId, 0)
      for (const agentId of accepted) places.recorded(agentId, true)
      for (const [agentId, count] of underWay) {
        for (let at = 0; at < count; at++) places.recorded(agentId, false)
      }
      const unused = new Places(options)
      expect(places.underWay).toBe(0)
      for (const agentId of [7n, 1n]) {
        expect(places.reserve(agentId)).toBe(unused.reserve(agentId))
      }
    }),
  )
})
