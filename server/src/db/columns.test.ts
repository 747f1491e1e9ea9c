import { expect, it } from 'vitest'
import { columns, type Description } from './columns.ts'

interface Parcel {
  parcelId: string
  weightMinor: bigint
  feeMinor: bigint
  sentAt: Date | null
  size: { width: number; height: number }
  sender: { name: string | null; city: string | null } | null
}

const parcels = columns<Parcel>({
  parcelId: ['parcel_id', 'uuid'],
  weightMinor: ['weight', 'bigint'],
  feeMinor: ['fee', 'bigint'],
  sentAt: ['sent_at', 'timestamptz', 'null'],
  size: { width: ['width', 'int'], height: ['height', 'int'] },
  sender: { name: ['sender_name', 'text', 'null'], city: ['sender_city', 'text', 'null'] },
})

const sent: Parcel = {
  parcelId: 'ab',
  weightMinor: 7n,
  feeMinor: 3n,
  sentAt: new Date('2026-01-01T00:00:00Z'),
  size: { width: 1, height: 2 },
  sender: { name: 'Somchai', city: null },
}

it('all lists of a statement are in one order', () => {
  expect(parcels.names).toBe(
    'parcel_id, weight, fee, sent_at, width, height, sender_name, sender_city',
  )
  expect(parcels.unnest).toBe(
    'unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::int[], $6::int[], $7::text[], $8::text[])',
  )
  const few = parcels.pick('feeMinor', 'sentAt')
  expect(few.rows('u')).toBe('unnest($1::bigint[], $2::timestamptz[]) u(fee, sent_at)')
  expect(few.set('u')).toBe('fee = u.fee, sent_at = u.sent_at')
  expect(few.values([sent])).toEqual([[3n], ['2026-01-01T00:00:00.000Z']])
})

it('rows become columns, and a row that is read is the value that was written', () => {
  const lost: Parcel = { ...sent, sentAt: null, sender: null }
  const values = parcels.values([sent, lost])
  expect(values).toEqual([
    ['ab', 'ab'],
    [7n, 7n],
    [3n, 3n],
    ['2026-01-01T00:00:00.000Z', null],
    [1, 1],
    [2, 2],
    ['Somchai', null],
    [null, null],
  ])
  expect(parcels.select('p')).toBe(
    'p.parcel_id as "parcelId", p.weight as "weightMinor", p.fee as "feeMinor", p.sent_at as "sentAt", ' +
      'p.width as "size.width", p.height as "size.height", p.sender_name as "sender.name", p.sender_city as "sender.city"',
  )
  const keys = [...parcels.select('p').matchAll(/"(.*?)"/g)].map((match) => match[1] ?? '')
  const row = (at: number) =>
    Object.fromEntries(keys.map((key, column) => [key, values[column]?.[at]]))
  expect(parcels.fromRow({ ...row(0), sentAt: sent.sentAt })).toEqual(sent)
  expect(parcels.fromRow(row(1))).toEqual(lost)
})

interface Pair {
  amountMinor: bigint
  feeMinor: bigint | null
}

type Fits<D> = D extends Description<Pair> ? true : false

it('a column that is missing, swapped, of another type or wrongly nullable does not compile', () => {
  const asItIs: Fits<{ amountMinor: ['amount', 'bigint']; feeMinor: ['fee', 'bigint', 'null'] }> =
    true
  const missing: Fits<{ amountMinor: ['amount', 'bigint'] }> = false
  const swapped: Fits<{ amountMinor: ['fee', 'bigint']; feeMinor: ['amount', 'bigint', 'null'] }> =
    false
  const another: Fits<{ amountMinor: ['amount', 'text']; feeMinor: ['fee', 'bigint', 'null'] }> =
    false
  const notNull: Fits<{ amountMinor: ['amount', 'bigint']; feeMinor: ['fee', 'bigint'] }> = false
  expect([asItIs, missing, swapped, another, notNull]).toEqual([true, false, false, false, false])
})
