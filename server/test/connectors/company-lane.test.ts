import { expect, it } from 'vitest'
import { CompanyLane, NotCalled } from '../../src/providers/http/company-lane.ts'

const well = () => true
const { signal } = new AbortController()

function lane(limits: object = {}) {
  let atMs = 1_000
  const made = new CompanyLane({ callsAtOnce: 2, callsPerSecond: 1_000, ...limits }, () => atMs)
  return { lane: made, pass: (ms: number) => (atMs += ms) }
}

const fail = async (to: CompanyLane) =>
  to
    .run(
      signal,
      async () => {
        throw new Error('no answer')
      },
      well,
    )
    .catch((error: Error) => error)

it('makes no more calls at once than allowed, and each in its turn', async () => {
  const { lane: to } = lane()
  let underWay = 0
  let most = 0
  const ends: (() => void)[] = []
  const calls = [1, 2, 3, 4].map((n) =>
    to.run(
      signal,
      async () => {
        most = Math.max(most, ++underWay)
        await new Promise<void>((resolve) => ends.push(resolve))
        underWay--
        return n
      },
      well,
      true,
    ),
  )
  for (let ended = 0; ended < 4; ended++) {
    await expect.poll(() => ends.length, { interval: 1 }).toBeGreaterThan(0)
    ends.shift()?.()
    await calls[ended]
  }
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4])
  expect(most).toBe(2)
  expect(to.figures).toMatchObject({ calls: 4, failures: 0, underWay: 0, state: 'open' })
})

it('a company that asks to be left alone is, from its first answer on, and not for ever', async () => {
  const { lane: to, pass } = lane()
  const busy = async (ms: number) =>
    to.run(
      signal,
      async () => to.rest(ms),
      () => false,
    )
  await busy(30_000)
  expect(to.figures).toMatchObject({ calls: 1, failures: 1, state: 'paused' })
  expect([to.isReady, to.isReadyForHandOver]).toEqual([false, false])
  pass(29_999)
  expect(await fail(to)).toBeInstanceOf(NotCalled)
  pass(1)
  expect(to.isReady).toBe(true)
  await busy(86_400_000)
  pass(600_000)
  expect(to.isReady).toBe(true)
})

it('a company that fails is left alone, then tried by one call, for longer each time', async () => {
  const { lane: to, pass } = lane()
  for (let n = 0; n < 5; n++) expect(await fail(to)).not.toBeInstanceOf(NotCalled)
  expect(to.isReady).toBe(false)
  expect(await fail(to)).toBeInstanceOf(NotCalled)
  expect(to.figures).toMatchObject({ calls: 5, failures: 5, notCalled: 1, state: 'paused' })
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    pass(pauseMs - 1)
    expect(to.isReady).toBe(false)
    pass(1)
    expect(to.isReady).toBe(true)
    // Only one tries; the others are not called meanwhile.
    const [first, second] = await Promise.all([fail(to), fail(to)])
    expect(first).not.toBeInstanceOf(NotCalled)
    expect(second).toBeInstanceOf(NotCalled)
  }
  pass(60_000)
  expect(await to.run(signal, async () => 'here', well)).toBe('here')
  expect(to.isReady).toBe(true)
  expect(to.figures.state).toBe('open')
})

it('an answer that says that the company fails counts, and one in between starts anew', async () => {
  const { lane: to } = lane()
  const answer = (isWell: boolean | undefined) =>
    to.run(
      signal,
      async () => 1,
      () => isWell,
    )
  for (let n = 0; n < 4; n++) await answer(false)
  await answer(true)
  for (let n = 0; n < 4; n++) await answer(false)
  // What could not be sent tells nothing.
  await answer(undefined)
  expect(to.isReady).toBe(true)
  await answer(false)
  expect(to.isReady).toBe(false)
})

it('a call that waits for a place is not made once its time is over', async () => {
  const { lane: to } = lane({ callsAtOnce: 1 })
  let end = () => {}
  const first = to.run(signal, () => new Promise<void>((resolve) => (end = resolve)), well)
  const late = new AbortController()
  const second = to.run(late.signal, async () => 'made', well)
  late.abort()
  await expect(second).rejects.toBeInstanceOf(NotCalled)
  await expect.poll(() => to.figures.calls, { interval: 1 }).toBe(1)
  end()
  await first
  expect(await to.run(signal, async () => 'next', well)).toBe('next')
})

it('calls are spaced out', async () => {
  const { lane: to } = lane({ callsPerSecond: 1, callsAtOnce: 8 })
  await to.run(signal, async () => 1, well)
  await to.run(AbortSignal.timeout(1), async () => 1, well).catch(() => {})
  expect(to.isReady).toBe(false)
  expect(to.figures.calls).toBe(1)
})

it('a place is kept for hand-overs, whatever else is asked', async () => {
  const { lane: to } = lane({ callsAtOnce: 4 })
  const ends: (() => void)[] = []
  const hang = () => new Promise<void>((resolve) => ends.push(resolve))
  const others = Array.from({ length: 9 }, () => to.run(signal, hang, well))
  await expect.poll(() => ends.length, { interval: 1 }).toBe(3)
  expect(to.isReady).toBe(false)
  expect(to.isReadyForHandOver).toBe(true)
  expect(await to.run(signal, async () => 'handed over', well, true)).toBe('handed over')
  for (let ended = 0; ended < 9; ended++) {
    await expect.poll(() => ends.length, { interval: 1 }).toBeGreaterThan(0)
    ends.shift()?.()
  }
  await Promise.all(others)
})
