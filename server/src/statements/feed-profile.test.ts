import { describe, expect, test } from 'vitest'
import {
  builtInFeedProfiles,
  type FeedProfile,
  feedProfileFault,
  readSentPush,
} from './feed-profile.ts'

const noPayer = { accountNo: null, name: null, bank: null }

describe('what senders write', () => {
  test('a flat body with words for credit and debit', () => {
    const body = {
      transaction_id: 'T-1',
      transfer_type: 'credit',
      amount: 150000,
      content: 'SX12 CT tu 0123',
      reference_code: 'FT-9',
      va: '',
      transaction_date: '2026-11-16 10:01:00',
    }
    expect(readSentPush(builtInFeedProfiles.sepay as FeedProfile, body)).toEqual({
      id: 'T-1',
      direction: 'credit',
      amount: '150000',
      time: '2026-11-16 10:01:00',
      text: 'SX12 CT tu 0123\nFT-9',
      accountNo: null,
      balance: null,
      payer: noPayer,
    })
    // The number that was paid to may name the order.
    const toVirtual = { ...body, va: '963SX12' }
    expect(readSentPush(builtInFeedProfiles.sepay as FeedProfile, toVirtual)).toMatchObject({
      text: 'SX12 CT tu 0123\nFT-9\n963SX12',
    })
    expect(
      readSentPush(builtInFeedProfiles.sepay as FeedProfile, { ...body, transfer_type: 'fee' }),
    ).toContain('neither credit nor debit')
  })

  test('a nested body whose sign tells what left', () => {
    const data = { id: 7, amount: -2500, description: 'rut tien', runningBalance: 100 }
    expect(readSentPush(builtInFeedProfiles.casso as FeedProfile, { data })).toMatchObject({
      id: '7',
      direction: 'debit',
      amount: '2500',
      balance: '100',
    })
  })

  const sms: FeedProfile = {
    message: '/text',
    patterns: [
      { direction: 'credit', pattern: '{time} A/C {account} +{amount} Bal {balance}' },
      { direction: 'debit', pattern: '{time} A/C {account} -{amount} Bal {balance}' },
    ],
  }

  test('a message, read by the first pattern that fits; its text is its id', () => {
    const text = '16/11 10:01 A/C x1234 +1,250.07 Bal 9,000.00'
    expect(readSentPush(sms, { text })).toMatchObject({
      id: text,
      direction: 'credit',
      amount: '1250.07',
      balance: '9000.00',
      accountNo: 'x1234',
      text,
    })
    const out = readSentPush(sms, { text: text.replace('+', '-') })
    expect(out).toMatchObject({ direction: 'debit', amount: '1250.07' })
    expect(readSentPush(sms, { text: 'Your code is 123456' })).toContain('No pattern')
    expect(readSentPush(sms, {})).toContain('no text at /text')
  })

  test.each([
    ['100.07', '100.07'],
    ['1,000', '1000'],
    ['1.000.000', '1000000'],
    ['1.000,50', '1000.50'],
    [100.07, '100.07'],
  ])('%s is %s', (amount, plain) => {
    expect(readSentPush({ amount: '/a' }, { a: amount })).toMatchObject({ amount: plain })
  })

  test.each(['1,00,000.00', '1e3', 'abc', '', 1e21, 0.1234567890123456, null, [1], '1.000,000.00'])(
    '%s is no amount',
    (amount) => expect(readSentPush({ amount: '/a' }, { a: amount })).toEqual(expect.any(String)),
  )
})

describe('a profile', () => {
  test('that comes with the service is right', () => {
    for (const profile of Object.values(builtInFeedProfiles)) {
      expect(feedProfileFault(profile)).toBeNull()
    }
  })

  test.each<[unknown, RegExp]>([
    [{}, /amount/],
    [{ amount: 'a' }, /amount/],
    [{ amount: '/a', script: 'x' }, /./],
    [{ message: '/text' }, /both/],
    [{ message: '/text', patterns: [{ direction: 'credit', pattern: 'no field' }] }, /\{amount\}/],
    ['sepay', /./],
  ])('%j is refused in words', (profile, words) => {
    expect(feedProfileFault(profile)).toMatch(words)
  })
})
