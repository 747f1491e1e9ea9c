import { expect, it } from 'vitest'
import { addressesOf, oneAddress } from './hosts.ts'

it.each([
  ['postgres://u:p@db:5432/sluice', ['postgres://u:p@db:5432/sluice']],
  ['postgres://u:p@db/sluice?target_session_attrs=read-write', ['postgres://u:p@db/sluice']],
  [
    'postgresql://u:p%40@one:5432,two:5433,[::1]:5434/sluice?target_session_attrs=read-write&sslmode=require',
    [
      'postgresql://u:p%40@one:5432/sluice?sslmode=require',
      'postgresql://u:p%40@two:5433/sluice?sslmode=require',
      'postgresql://u:p%40@[::1]:5434/sluice?sslmode=require',
    ],
  ],
])('%s names these servers', (text, addresses) => {
  expect(addressesOf(oneAddress(text) ?? '')).toEqual(addresses)
})

it.each([
  ['mysql://db/sluice'],
  ['postgres://one:5432,two:port/sluice'],
  ['postgres://one,two/sluice?target_session_attrs=standby'],
])('%s is refused', (text) => {
  expect(oneAddress(text)).toBe(undefined)
})
