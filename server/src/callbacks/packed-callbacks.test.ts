import { expect, it } from 'vitest'
import { Lease } from './lease.ts'
import { unpackCallbacks } from './packed-callbacks.ts'

const claim = { agentId: 7n, turn: 3n, lease: new Lease(() => new Date(0)) }

it('every callback comes out as it went in, with the claim that it is of', () => {
  const packed = '12 deposit 0 1760000000000 {"a":1}\x1e13 withdraw 4 1760000000123.5 {}'
  expect(unpackCallbacks(packed, claim)).toEqual([
    {
      ...claim,
      seq: 12n,
      kind: 'deposit',
      attempts: 0,
      createdAtMs: 1_760_000_000_000,
      body: '{"a":1}',
    },
    {
      ...claim,
      seq: 13n,
      kind: 'withdraw',
      attempts: 4,
      createdAtMs: 1_760_000_000_123.5,
      body: '{}',
    },
  ])
})

it.each([['{"name": "Somchai  Jaidee"}'], ['{\n  "a": 1\r\n}'], ['{"text":"\\u001e"}'], ['']])(
  'a body keeps its spaces, its line breaks and its escapes: %j',
  (body) => {
    const [callback, ...others] = unpackCallbacks(`1 deposit 0 0 ${body}`, claim)
    expect(callback?.body).toBe(body)
    expect(others).toEqual([])
  },
)

it('a claim that took nothing has no callbacks', () => {
  expect(unpackCallbacks(null, claim)).toEqual([])
})
