import { expect, it } from 'vitest'
import { PayoutLane } from './payout-lane.ts'

/** A lane whose calls are ended by the test, and who began in which order. */
function laneOf(places: number) {
  const lane = new PayoutLane(places)
  const began: string[] = []
  const open = new Map<string, () => void>()
  const add = (agentId: bigint, name: string) => {
    void lane.run(agentId, () => {
      began.push(name)
      return new Promise((resolve) => open.set(name, resolve))
    })
  }
  const end = async (name: string) => {
    open.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { lane, began, add, end }
}

it('begins as many calls as it has places, and the next as one ends', async () => {
  const { began, add, end } = laneOf(2)
  for (const name of ['a', 'b', 'c', 'd']) add(1n, name)
  expect(began).toEqual(['a', 'b'])
  await end('b')
  expect(began).toEqual(['a', 'b', 'c'])
})

it('the agents take turns, however much one of them has', async () => {
  const { began, add, end } = laneOf(1)
  for (const name of ['a1', 'a2', 'a3', 'a4']) add(1n, name)
  for (const name of ['b1', 'b2']) add(2n, name)
  for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name)
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
})

it('an agent has room for so many, and each for one where very many wait', () => {
  const { lane, add } = laneOf(0)
  for (let n = 0; n < 256; n++) add(1n, `a${n}`)
  expect([lane.hasRoomFor(1n), lane.hasRoomFor(2n)]).toEqual([false, true])
  for (let agent = 2n; agent <= 32n; agent++) for (let n = 0; n < 256; n++) add(agent, `${n}`)
  expect([lane.hasRoomFor(99n), lane.hasRoomFor(32n)]).toEqual([true, false])
  add(99n, 'one')
  expect(lane.hasRoomFor(99n)).toBe(false)
})

it('who answers nothing gets few places, until it answers again', async () => {
  const { lane, began, add, end } = laneOf(8)
  for (let n = 0; n < 40; n++) add(1n, `a${n}`)
  expect(began).toHaveLength(8)
  for (let n = 0; n < 16; n++) lane.ended(false)
  for (let n = 0; n < 8; n++) await end(`a${n}`)
  expect(began).toHaveLength(8 + 4)
  lane.ended(true)
  await end('a8')
  expect(began).toHaveLength(8 + 4 + 5)
})

it('what waits is dropped when all is stopped', async () => {
  const { lane, began, add, end } = laneOf(1)
  add(1n, 'a')
  const dropped = lane.run(2n, async () => {
    began.push('b')
  })
  lane.clear()
  await dropped
  await end('a')
  expect(began).toEqual(['a'])
})
