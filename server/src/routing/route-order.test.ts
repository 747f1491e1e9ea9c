import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Capabilities, Provider } from '../providers/provider.ts'
import { type OrderToRoute, type ProviderState, type Route, routeOrder } from './route-order.ts'

function provider(name: string, can: Partial<Capabilities> = {}): Provider {
  return {
    name,
    can: {
      currencies: ['THB', 'VND'],
      deposits: true,
      payouts: true,
      idempotentByReference: true,
      ...can,
    },
    depositInstructions: () => undefined,
    submitPayout: async () => ({ type: 'accepted' }),
    askPayout: async () => ({ type: 'accepted' }),
    readNotice: () => undefined,
  }
}

function route(name: string, more: Partial<Route> = {}): Route {
  return {
    provider: name,
    name: 'all',
    direction: 'withdraw',
    currency: 'THB',
    banks: null,
    minAmount: 1n,
    maxAmount: 1_000n,
    preference: 100,
    weight: 1,
    ...more,
  }
}

const order: OrderToRoute = {
  direction: 'withdraw',
  currency: 'THB',
  bankCode: 'SCB',
  amountMinor: 100_00n,
}

const all = [provider('a'), provider('b'), provider('c')]

function routed(
  routes: Route[],
  {
    providers = all,
    states = {},
    of = {},
    random = () => 0.5,
  }: {
    providers?: Provider[]
    states?: Record<string, ProviderState>
    of?: Partial<OrderToRoute>
    random?: () => number
  } = {},
): string[] {
  const table = { states: new Map(Object.entries(states)), routes }
  return routeOrder({ ...order, ...of }, providers, table, random).map(({ name }) => name)
}

/** A generator that gives the same numbers every time. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

describe('who may take an order', () => {
  const only = (can: Partial<Capabilities>) => ({ providers: [provider('a', can)] })
  const rows: [what: string, got: string[], expected: string[]][] = [
    ['everybody, where nothing is said', routed([]), ['a', 'b', 'c']],
    ['nobody, where there is nobody', routed([], { providers: [] }), []],
    ['not who is off', routed([], { states: { a: 'off' } }), ['b', 'c']],
    ['not who drains', routed([], { states: { b: 'draining' } }), ['a', 'c']],
    ['whoever is switched on', routed([], { states: { a: 'on' } }), ['a', 'b', 'c']],
    ['not who makes no payouts', routed([], only({ payouts: false })), []],
    ['who makes payouts only', routed([], only({ deposits: false })), ['a']],
    [
      'not who takes no deposits',
      routed([], { ...only({ deposits: false }), of: { direction: 'deposit' } }),
      [],
    ],
    ['not who has another currency', routed([], only({ currencies: ['VND'] })), []],
    [
      'who has routes for the other direction only, as if it had none',
      routed([route('a', { direction: 'deposit', banks: ['KBANK'] })]),
      ['a', 'b', 'c'],
    ],
    [
      'not who has a route for another currency',
      routed([route('a', { currency: 'VND' })]),
      ['b', 'c'],
    ],
    [
      'not who has a route for another bank',
      routed([route('a', { banks: ['KBANK'] })]),
      ['b', 'c'],
    ],
    [
      'who has one for the bank',
      routed([route('a', { banks: ['KBANK', 'SCB'] })]),
      ['a', 'b', 'c'],
    ],
    ['at the lower bound', routed([route('a', { minAmount: 100n })]), ['a', 'b', 'c']],
    ['not below it', routed([route('a', { minAmount: 101n })]), ['b', 'c']],
    ['at the upper bound', routed([route('a', { maxAmount: 100n })]), ['a', 'b', 'c']],
    ['not above it', routed([route('a', { maxAmount: 99n })]), ['b', 'c']],
    [
      'not a hundredth above it',
      routed([route('a', { maxAmount: 100n })], { of: { amountMinor: 100_01n } }),
      ['b', 'c'],
    ],
    [
      'in a currency without decimals, too',
      routed([route('a', { currency: 'VND', maxAmount: 100n })], {
        of: { currency: 'VND', amountMinor: 101n },
      }),
      ['b', 'c'],
    ],
    [
      'whom any of its routes lets',
      routed([route('a', { banks: ['KBANK'] }), route('a', { name: 'two', banks: ['SCB'] })]),
      ['a', 'b', 'c'],
    ],
  ]
  it.each(rows)('%s', (_what, got, expected) => expect(got).toEqual(expected))
})

describe('in which order', () => {
  it('the lowest preference comes first; without a route it is 100', () => {
    expect(routed([route('c', { preference: 1 })])[0]).toBe('c')
    expect(routed([route('a', { preference: 101 })]).at(-1)).toBe('a')
    const both = [route('b', { preference: 3 }), route('b', { name: 'two', preference: 1 })]
    expect(routed([...both, route('c', { preference: 2 })])).toEqual(['b', 'c', 'a'])
  })

  it('chance decides among equals, by weight', () => {
    const random = seeded(7)
    const routes = [route('a', { weight: 6 }), route('b', { weight: 3 }), route('c', { weight: 1 })]
    const first = { a: 0, b: 0, c: 0 }
    for (let n = 0; n < 20_000; n++) {
      first[(routed(routes, { random })[0] ?? 'a') as keyof typeof first]++
    }
    expect(first.a / 20_000).toBeCloseTo(0.6, 1)
    expect(first.b / 20_000).toBeCloseTo(0.3, 1)
    expect(first.c / 20_000).toBeCloseTo(0.1, 1)
  })

  it('no weight beats a preference', () => {
    const routes = [route('a', { weight: 1000, preference: 2 }), route('b', { preference: 1 })]
    const random = seeded(8)
    for (let n = 0; n < 100; n++) expect(routed(routes, { random })[0]).toBe('b')
  })
})

it('whatever the table says, nobody is named twice and nobody who may not', () => {
  const anyRoute = fc.record({
    provider: fc.constantFrom('a', 'b', 'c', 'gone'),
    name: fc.string(),
    direction: fc.constantFrom('deposit' as const, 'withdraw' as const),
    currency: fc.constantFrom('THB' as const, 'VND' as const),
    banks: fc.option(fc.subarray(['SCB', 'KBANK'], { minLength: 1 })),
    minAmount: fc.bigInt(1n, 200n),
    maxAmount: fc.bigInt(1n, 200n),
    preference: fc.integer({ min: 1, max: 3 }),
    weight: fc.integer({ min: 1, max: 1000 }),
  })
  const anyState = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom('on' as const, 'draining' as const, 'off' as const),
  )
  fc.assert(
    fc.property(fc.array(anyRoute), anyState, fc.integer(), (routes, states, seed) => {
      const names = routed(routes, { states, random: seeded(seed) })
      expect(new Set(names).size).toBe(names.length)
      for (const { name } of all) {
        const own = routes.filter((r) => r.provider === name && r.direction === 'withdraw')
        const fits = own.some(
          (r) =>
            r.currency === 'THB' &&
            (r.banks ?? ['SCB']).includes('SCB') &&
            r.minAmount <= 100n &&
            r.maxAmount >= 100n,
        )
        const may = (states[name] ?? 'on') === 'on' && (own.length === 0 || fits)
        expect(names.includes(name)).toBe(may)
      }
    }),
  )
})

it('an account that pays by files gets withdrawals without a route only where no other can pay', () => {
  const file: Provider = { ...provider('file'), paysByFile: true }
  const providers = [file, ...all]
  const low = all.map(({ name }) => route(name, { preference: 900 }))
  expect(routed(low, { providers }).at(-1)).toBe('file')
  expect(routed([], { providers: [file] })).toEqual(['file'])
  expect(routed([...low, route('file', { preference: 1 })], { providers })[0]).toBe('file')
  const deposits = low.map((each): Route => ({ ...each, direction: 'deposit' }))
  expect(routed(deposits, { providers, of: { direction: 'deposit' } })[0]).toBe('file')
})
