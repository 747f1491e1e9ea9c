import { expect, it } from 'vitest'
import { notShown, withoutPersons } from './personal-data.ts'

it('masks accounts at any depth, whatever the members around them are named', () => {
  const text =
    '{"constructor":{"accountNo":"1234567890"},"__proto__":[{"account_name":"Somchai","constructor":1}]}'
  expect(JSON.stringify(withoutPersons(JSON.parse(text)))).toBe(
    '{"constructor":{"accountNo":"••••7890"},"__proto__":[{"account_name":"S•••","constructor":1}]}',
  )
})

it('shows nothing of an account that was sent as something else than text, or under a name like it', () => {
  const sent = { accountNo: 1234567890, accountName: ['Somchai'], 'account-no': { at: '1234567' } }
  const shown = { accountNo: notShown, accountName: notShown, 'account-no': notShown }
  expect(withoutPersons({ ...sent, account_no: null })).toEqual({ ...shown, account_no: null })
  expect(withoutPersons({ payeeName: 'Somchai', payer_text: 'from Somchai' })).toEqual({
    payeeName: 'S•••',
    payer_text: notShown,
  })
})
