import { expect, it } from 'vitest'
import { newOrderId } from '../lib/ids.ts'
import { pageToken, parsePageToken } from './page-token.ts'

const [now, before, never] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
]
const orderId = newOrderId(new Date(0))

it('a token names its order', () => {
  expect(parsePageToken([now], pageToken([now], 7n, orderId))).toEqual({ agentId: 7n, orderId })
})

it('while the key is rotated, links made with either key open', () => {
  const link = pageToken([before], 7n, orderId)
  expect(parsePageToken([now, before], link)).toEqual({ agentId: 7n, orderId })
  expect(parsePageToken([now], link)).toBeUndefined()
})

it('the part that cannot be guessed has 128 bits', () => {
  const mark = pageToken([now], 7n, orderId).split('-').slice(2).join('-')
  expect(Buffer.from(mark, 'base64url')).toHaveLength(16)
})

it('any character changed, added or left out is another token', () => {
  const token = pageToken([now], 7n, orderId)
  for (let at = 0; at < token.length; at++) {
    for (const other of ['0', 'a', 'A', '_', '-', '']) {
      const changed = token.slice(0, at) + other + token.slice(at + 1)
      if (changed !== token) expect(parsePageToken([now], changed), changed).toBeUndefined()
    }
  }
  // The last character holds bits that decoding ignores.
  const twins = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
    (last) => parsePageToken([now], token.slice(0, -1) + last),
  )
  expect(twins).toEqual([token.at(-1)])
})

it.each([
  '',
  'x',
  '7',
  `7-${orderId}`,
  `7-${orderId}-`,
  `${'9'.repeat(30)}-${orderId}-${'A'.repeat(22)}`,
  'ก'.repeat(60),
])('%s is no token', (text) => {
  expect(parsePageToken([now], text)).toBeUndefined()
})

it("another key's, agent's or order's mark does not open", () => {
  const mark = pageToken([now], 7n, orderId).slice(`7-${orderId}-`.length)
  expect(parsePageToken([now], `8-${orderId}-${mark}`)).toBeUndefined()
  expect(parsePageToken([now], `7-${newOrderId(new Date(1))}-${mark}`)).toBeUndefined()
  expect(parsePageToken([now], pageToken([never], 7n, orderId))).toBeUndefined()
})
