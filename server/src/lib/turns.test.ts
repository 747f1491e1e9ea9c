import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

/** Work that ends when it is told to. */
function held() {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = (name: number) => () => {
    begun.push(name)
    return new Promise<number>((resolve) => ends.push(() => resolve(name)))
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return { begun, ends, work, turn }
}

it('so many of a key run at once, the next ones in turn, and others are not held up', async () => {
  const { begun, ends, work, turn } = held()
  const turns = new Turns({ atOnce: 2, waiting: 2 })
  const taken = [1, 2, 3, 4].map((name) => turns.take('one', work(name)))
  await expect(turns.take('one', work(5))).rejects.toMatchObject({
    code: 'overloaded',
    retryAfterS: 1,
  })
  const other = turns.take('other', work(6))
  await turn()
  expect(begun).toEqual([1, 2, 6])
  for (const at of [0, 1, 2, 3, 4]) {
    ends[at]?.()
    await turn()
  }
  expect(begun).toEqual([1, 2, 6, 3, 4])
  expect(await Promise.all([...taken, other])).toEqual([1, 2, 3, 4, 6])
})

it('what fails gives its place on', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 1 })
  const failing = turns.take('one', () => Promise.reject(new Error('no')))
  const next = turns.take('one', async () => 'yes')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('yes')
})
