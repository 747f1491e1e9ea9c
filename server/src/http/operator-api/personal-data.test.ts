import { expect, it } from 'vitest'
import { withoutPersons } from './personal-data.ts'

it('masks accounts at any depth, whatever the members around them are named', () => {
  const text =
    '{"constructor":{"accountNo":"1234567890"},"__proto__":[{"account_name":"Somchai","constructor":1}]}'
  expect(JSON.stringify(withoutPersons(JSON.parse(text)))).toBe(
    '{"constructor":{"accountNo":"••••7890"},"__proto__":[{"account_name":"S•••","constructor":1}]}',
  )
})
