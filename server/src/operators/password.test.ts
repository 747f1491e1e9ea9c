import { expect, it } from 'vitest'
import { hashPassword, isPassword } from './password.ts'

it('a flood of passwords waits in a short line, and the rest is sent away at once', async () => {
  const hashed = await hashPassword('six plain words put together')
  const tries = Array.from({ length: 40 }, () => isPassword(hashed, 'not these words'))
  const results = await Promise.allSettled(tries)
  const refused = results.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const each of refused) expect(each).toMatchObject({ reason: { code: 'overloaded' } })
  expect(await isPassword(hashed, 'six plain words put together')).toBe(true)
})
