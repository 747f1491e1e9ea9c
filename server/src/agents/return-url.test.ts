import { expect, it } from 'vitest'
import { returnUrlOf } from './return-url.ts'

const own = 'https://shop.example/thanks'
const framed = 'https://pay.shop.example'

type Case = [
  asked: unknown,
  returnUrl: string | null,
  frames: string[],
  sandbox: string | undefined,
]

const cases: Case[] = [
  [undefined, null, [], undefined],
  [undefined, own, [], own],
  ['https://shop.example/order/7?a=b#c', own, [], 'https://shop.example/order/7?a=b#c'],
  [`${framed}/back`, null, [framed], `${framed}/back`],
  ['https://evil.example/', own, [framed], own],
  ['https://evil.example/', null, [], undefined],
  ['https://shop.example.evil.example/', own, [], own],
  ['https://shop.example:444/', own, [], own],
  ['https://shop.example@evil.example/', own, [], own],
  ['https://me:secret@shop.example/', own, [], own],
  ['//shop.example/x', own, [], own],
  ['/x', own, [], own],
  ['javascript:alert(1)', own, ['any'], own],
  ['data:text/html,x', null, ['any'], undefined],
  [' https://shop.example/x', own, [], own],
  ['https://shop.example/\u0000x', own, [], 'https://shop.example/%00x'],
  [`https://shop.example/${'x'.repeat(2_000)}`, own, [], own],
  [7, own, [], own],
  [['https://shop.example/'], own, [], own],
  [{ href: 'https://shop.example/' }, null, [framed], undefined],
]

it.each(cases)('asked for %j, with %s and %j: %s', (returnUrl, agents, frameOrigins, told) => {
  const order = { extraParams: JSON.stringify({ returnUrl }) }
  expect(returnUrlOf(order, { returnUrl: agents, frameOrigins }, 'sandbox')).toBe(told)
  expect(returnUrlOf(order, { returnUrl: agents, frameOrigins }, 'live')).toBe(told)
})

it('in live only https, and any origin that may show the page is not any origin to go to', () => {
  const order = (returnUrl: string) => ({ extraParams: JSON.stringify({ returnUrl }) })
  const http = { returnUrl: 'http://shop.example/', frameOrigins: [] }
  expect(returnUrlOf(order('http://shop.example/7'), http, 'sandbox')).toBe('http://shop.example/7')
  expect(returnUrlOf(order('http://shop.example/7'), http, 'live')).toBeUndefined()
  const everyone = { returnUrl: null, frameOrigins: ['any'] }
  expect(returnUrlOf(order('https://a.example/'), everyone, 'sandbox')).toBe('https://a.example/')
  expect(returnUrlOf(order('https://a.example/'), everyone, 'live')).toBeUndefined()
})

it('extraParams that are no object lead nowhere', () => {
  for (const extraParams of [null, '', '[', 'null', '"https://shop.example/"', '[1]']) {
    expect(returnUrlOf({ extraParams }, { returnUrl: own, frameOrigins: [] }, 'live')).toBe(own)
  }
})
