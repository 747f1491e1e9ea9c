import { expect, it } from 'vitest'
import { callWithin } from './call-within.ts'

const never = () => new Promise<never>(() => {})

it('a call that ends in time is as it is', async () => {
  expect(await callWithin(60_000, undefined, async () => 7)).toBe(7)
  const failing = callWithin(60_000, undefined, () => Promise.reject(new Error('mine')))
  await expect(failing).rejects.toThrow('mine')
})

it('one that does not is told to end, and left behind where it does not listen', async () => {
  let signal: AbortSignal | undefined
  const call = callWithin(5, undefined, (given) => {
    signal = given
    return never()
  })
  await expect(call).rejects.toThrow('There was no answer in time.')
  expect(signal?.aborted).toBe(true)
})

it('it ends where everything does, with the reason', async () => {
  const stop = new AbortController()
  const call = callWithin(60_000, stop.signal, never)
  stop.abort(new Error('closing'))
  await expect(call).rejects.toThrow('closing')
  let called = false
  const late = callWithin(60_000, stop.signal, async () => {
    called = true
  })
  await expect(late).rejects.toThrow('closing')
  expect(called).toBe(false)
})
