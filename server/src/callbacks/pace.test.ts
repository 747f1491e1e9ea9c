import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Pace } from './pace.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Requests that end when told to, and which of them have begun. */
function requests(pace: Pace, count: number) {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const ended = Array.from({ length: count }, (_, at) =>
    pace.run(
      () =>
        new Promise<number>((resolve, reject) => {
          begun.push(at)
          ends[at] = () => (at % 2 === 0 ? resolve(at) : reject(new Error(`no ${at}`)))
        }),
    ),
  )
  for (const each of ended) each.catch(() => {})
  return { begun, ended, end: (at: number) => ends[at]?.() }
}

const settled = () => vi.advanceTimersByTimeAsync(0)

test('only so many begin at once, and each that ends, well or badly, lets the next one begin', async () => {
  const { begun, ended, end } = requests(new Pace(2), 5)
  await settled()
  expect(begun).toEqual([0, 1])
  end(1)
  await settled()
  expect(begun).toEqual([0, 1, 2])
  end(0)
  end(2)
  await settled()
  expect(begun).toEqual([0, 1, 2, 3, 4])
  end(3)
  end(4)
  expect((await Promise.allSettled(ended)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
})

test('who does not answer holds up nobody for longer than a moment', async () => {
  const pace = new Pace(2)
  const { begun, end } = requests(pace, 5)
  await settled()
  expect(begun).toEqual([0, 1])
  await vi.advanceTimersByTimeAsync(10)
  expect(begun).toEqual([0, 1, 2, 3])
  await vi.advanceTimersByTimeAsync(10)
  expect(begun).toEqual([0, 1, 2, 3, 4])
  // Answers that come after their moment free no places a second time.
  for (const at of [0, 1, 2, 3]) end(at)
  await settled()
  const later = requests(pace, 3)
  await settled()
  expect(later.begun).toEqual([0])
})

test('places are free again after everything has ended', async () => {
  const pace = new Pace(2)
  for (let round = 0; round < 3; round++) {
    const { begun, ended, end } = requests(pace, 4)
    for (let at = 0; at < 4; at++) {
      await settled()
      end(at)
    }
    await Promise.allSettled(ended)
    expect(begun).toEqual([0, 1, 2, 3])
  }
})
