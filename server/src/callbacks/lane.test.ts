import { describe, expect, test } from 'vitest'
import { type Lane, laneAfter, newLane } from './lane.ts'

const widest = 32
const start = new Date('2026-01-01T00:00:00Z')
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

const accepted = (lane: Lane, now = start) =>
  laneAfter(lane, { seq: 99n, error: null }, widest, now)
const failed = (lane: Lane, seq: number, now = start) =>
  laneAfter(lane, { seq: BigInt(seq), error: `failure ${seq}` }, widest, now)

/** A lane after failures of as many different callbacks. */
const failing = (count: number) =>
  Array.from({ length: count }, (_, at) => at + 1).reduce((lane, seq) => failed(lane, seq), newLane)

describe('a lane', () => {
  test('doubles with every accepted callback, up to the widest', () => {
    const widths = [1, 2, 3, 4].reduce(
      (lanes) => [...lanes, accepted(lanes.at(-1) ?? newLane)],
      [newLane],
    )
    expect(widths.map(({ width }) => width)).toEqual([4, 8, 16, 32, 32])
  })

  test('stays as wide as it is while fewer than five different callbacks have failed', () => {
    expect(failing(4)).toMatchObject({ width: 4, probeAt: null, why: null })
  })

  test('is probed with one request at a time when five different callbacks have failed in a row', () => {
    expect(failing(5)).toEqual({
      width: 1,
      failedSeqs: [1n, 2n, 3n, 4n, 5n],
      probeAt: after(5),
      probeEveryS: 5,
      why: 'failure 5',
    })
  })

  test.each([1, 2, 4])('is not probed for %i callbacks that always fail, by turns', (bad) => {
    const tries = Array.from({ length: 20 }, (_, at) => at % bad)
    const lane = tries.reduce<Lane>((each, seq) => failed(each, seq), newLane)
    expect(lane).toMatchObject({ width: 4, probeAt: null })
    expect(lane.failedSeqs).toHaveLength(bad)
  })

  test('forgets failures when one is accepted', () => {
    expect(failed(accepted(failing(4)), 9)).toMatchObject({ failedSeqs: [9n], probeAt: null })
  })

  test('is probed less and less often, once a minute at least', () => {
    let lane = failing(5)
    const everyS: (number | null)[] = []
    for (let probe = 0; probe < 6; probe++) {
      const now = lane.probeAt ?? start
      lane = failed(lane, 100 + probe, now)
      everyS.push(lane.probeEveryS)
      expect(lane.probeAt).toEqual(new Date(now.getTime() + (lane.probeEveryS ?? 0) * 1000))
    }
    expect(everyS).toEqual([10, 20, 40, 60, 60, 60])
  })

  test('takes failures of what was under way before as no probe', () => {
    const lane = failing(5)
    expect(failed(lane, 6, after(1))).toMatchObject({ probeAt: after(5), probeEveryS: 5 })
  })

  test('opens again with the first one that is accepted', () => {
    expect(accepted(failing(5), after(5))).toEqual({ ...newLane, width: 2 })
  })
})
