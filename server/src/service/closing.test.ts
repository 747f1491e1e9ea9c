import { expect, it } from 'vitest'
import { Closing } from './closing.ts'

it('what was opened last is closed first, one after the other, and once', async () => {
  const closing = new Closing()
  const steps: string[] = []
  for (const name of ['pool', 'worker', 'doors']) {
    closing.add(async () => {
      steps.push(`${name} closes`)
      await new Promise((resolve) => setImmediate(resolve))
      steps.push(`${name} is closed`)
    })
  }
  await closing.close()
  await closing.close()
  expect(steps).toEqual(
    ['doors', 'worker', 'pool'].flatMap((name) => [`${name} closes`, `${name} is closed`]),
  )
})

it('the end has begun before anything is closed', async () => {
  const closing = new Closing()
  const seen: boolean[] = []
  closing.add(async () => seen.push(closing.hasBegun))
  expect(closing.hasBegun).toBe(false)
  await closing.close()
  expect(seen).toEqual([true])
})
