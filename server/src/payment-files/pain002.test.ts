import { describe, expect, test } from 'vitest'
import { euroItem, statusReport } from '../../test/support/payment-files.ts'
import { paymentCode } from '../lib/payment-code.ts'
import { inDoubt, itemOutcomes, type SentFile } from './item-outcomes.ts'
import { readStatusReport } from './pain002.ts'

const [one, two, three] = ['1', '2', '3'].map((seed) => paymentCode(seed)) as [
  string,
  string,
  string,
]
const sent: SentFile = {
  messageId: 'SXFILE1',
  batchReference: 'BATCH1',
  debtor: { currency: 'EUR' },
  items: [one, two, three].map((code, index) => ({ code, amountMinor: BigInt(1000 + index) })),
}

const read = (parts: Parameters<typeof statusReport>[0]) =>
  readStatusReport(Buffer.from(statusReport(parts)))

/** The outcome of each payment in order, `-` for none, and the breaks. */
async function outcomesOf(parts: Parameters<typeof statusReport>[0]) {
  const { outcomes, breaks } = itemOutcomes(await read(parts), sent)
  const words = sent.items.map(({ code }) => outcomes.get(code)?.outcome ?? '-').join(' ')
  return { words, breaks: breaks.map(({ what }) => what), outcomes }
}

describe('reading', () => {
  test('all levels of a report are read', async () => {
    const report = await read({
      version: '10',
      group: { status: 'PART', count: '3', sum: '30.0300' },
      batch: { status: 'PART', reasons: [{ code: 'NARR', text: 'some words' }] },
      transactions: [
        {
          endToEndId: one,
          instructionId: two,
          status: 'rjct',
          reasons: [{ code: 'AC01' }],
          amount: '10.00',
        },
        { endToEndId: 'NOTPROVIDED', status: 'ACSP' },
      ],
    })
    expect(report).toEqual({
      format: 'pain.002.001.10',
      messageId: 'BANK-1',
      originalMessageId: 'SXFILE1',
      group: { status: 'PART', reasons: [], count: '3', sum: '30.0300' },
      payments: [
        {
          batchReference: 'BATCH1',
          status: 'PART',
          reasons: [{ code: 'NARR', text: 'some words' }],
          count: null,
          sum: null,
          transactions: [
            {
              line: expect.any(Number),
              instructionId: two,
              endToEndId: one,
              status: 'RJCT',
              reasons: [{ code: 'AC01', text: null }],
              bankReference: null,
              amount: { text: '10.00', currency: 'EUR' },
            },
            expect.objectContaining({ endToEndId: null, status: 'ACSP', amount: null }),
          ],
        },
      ],
    })
  })

  test('version 2 has no batches and other names', async () => {
    const report = await readStatusReport(
      Buffer.from(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.02"><pain.002.001.02>
        <GrpHdr><MsgId>B</MsgId></GrpHdr>
        <OrgnlGrpInfAndSts><OrgnlMsgId> SXFILE1 </OrgnlMsgId></OrgnlGrpInfAndSts>
        <TxInfAndSts><OrgnlPmtInfId>BATCH1</OrgnlPmtInfId><OrgnlEndToEndId>${one}</OrgnlEndToEndId>
          <TxSts>RJCT</TxSts><StsRsnInf><StsRsn><Cd>AC04</Cd></StsRsn>
          <AddtlStsRsnInf>closed</AddtlStsRsnInf><AddtlStsRsnInf>account</AddtlStsRsnInf></StsRsnInf>
        </TxInfAndSts>
        <TxInfAndSts><OrgnlEndToEndId>${two}</OrgnlEndToEndId><TxSts>ACSP</TxSts></TxInfAndSts>
      </pain.002.001.02></Document>`),
    )
    expect(report.format).toBe('pain.002.001.02')
    expect(report.payments[0]?.transactions[0]?.reasons).toEqual([
      { code: 'AC04', text: 'closed account' },
    ])
    const { outcomes, breaks } = itemOutcomes(report, sent)
    expect([outcomes.get(one)?.outcome, outcomes.get(two)?.outcome]).toEqual([
      'rejected',
      'accepted',
    ])
    expect(breaks).toEqual([])
  })

  test.each(['03', '08', '12', '14'])('version %s', async (version) => {
    const report = await read({ version, group: { status: 'ACTC' } })
    expect([report.format, report.group.status]).toEqual([`pain.002.001.${version}`, 'ACTC'])
  })

  test('another namespace, prefixes and none at all are read', async () => {
    const text = statusReport({ group: { status: 'ACTC' } })
    const other = text.replace(
      /xmlns="[^"]+"/,
      'xmlns="http://bank.example/pain.002.001.03.ch.02.xsd"',
    )
    expect((await readStatusReport(Buffer.from(other))).format).toBe('pain.002.001.03')
    const none = await readStatusReport(Buffer.from(text.replace(/ xmlns="[^"]+"/, '')))
    expect([none.format, none.group.status]).toEqual(['pain.002', 'ACTC'])
    const prefixed = text.replace(/<(\/?)(?=[A-Z])/g, '<$1p:').replace('xmlns=', 'xmlns:p=')
    expect((await readStatusReport(Buffer.from(prefixed))).group.status).toBe('ACTC')
  })

  test('a file that is cut off is refused wherever it is cut', async () => {
    const text = statusReport({
      group: { status: 'ACTC' },
      transactions: [{ endToEndId: one, status: 'RJCT' }],
    }).trimEnd()
    for (let length = 0; length < text.length; length += 37) {
      await expect(readStatusReport(Buffer.from(text.slice(0, length)))).rejects.toThrow(/Line/)
    }
  })

  test('what is no report is refused, and so is what could harm the reader', async () => {
    const refused: [string, string][] = [
      ['<Document><BkToCstmrStmt/></Document>', 'no status report'],
      ['code,status', 'no well-formed XML'],
      [`<!DOCTYPE x [<!ENTITY a "b">]>${statusReport({ prolog: '' })}`, 'DOCTYPE'],
      ['<a>'.repeat(100), 'deep'],
      [statusReport({ group: { status: 'x'.repeat(200_000) } }), 'longer than'],
    ]
    for (const [text, words] of refused) {
      await expect(readStatusReport(Buffer.from(text))).rejects.toThrow(words)
    }
    const stray = statusReport({}).replace('</GrpHdr>', '<TxInfAndSts/></GrpHdr>')
    await expect(readStatusReport(Buffer.from(stray))).rejects.toThrow('in no batch')
    const group = '<OrgnlGrpInfAndSts><OrgnlMsgId>OTHER</OrgnlMsgId></OrgnlGrpInfAndSts>'
    const two = statusReport({}).replace('</OrgnlGrpInfAndSts>', `</OrgnlGrpInfAndSts>${group}`)
    await expect(readStatusReport(Buffer.from(two))).rejects.toThrow('more than one file')
  })
})

describe('what a report means', () => {
  const accepted = 'RCVD ACTC ACCP ACFC ACFW ACSP ACWC ACWP PATC PDNG PART RCVC RVNC RVMC RVNA'
  const table: [string, string][] = [
    ...accepted.split(' ').map((status): [string, string] => [status, 'accepted']),
    ['RVCM', 'accepted'],
    ['RVNM', 'accepted'],
    ['ACSC', 'paid'],
    ['ACCC', 'paid'],
    ['RJCT', 'rejected'],
    ['CANC', 'cancelled'],
  ]
  test.each(table)('%s: %s', async (status, outcome) => {
    const transactions = [{ endToEndId: one, status }]
    const { outcomes, breaks } = await outcomesOf({ transactions })
    expect(outcomes.get(one)).toMatchObject({ outcome, status, level: 'transaction' })
    expect(outcomes.get(one)?.waitsForAnswer).toBe(status === 'RVCM' || status === 'RVNM')
    expect([outcomes.size, breaks]).toEqual([1, []])
  })

  test.each('DU01 DU02 DU03 DU04 DU05 AM05 DUPL AB12 du01'.split(' '))(
    'a rejection for %s is unknown, at every level',
    async (code) => {
      const rejected = { status: 'RJCT', reasons: [{ code: 'NARR' }, { code }] }
      expect((await outcomesOf({ group: rejected })).words).toBe('unknown unknown unknown')
      expect((await outcomesOf({ batch: rejected })).words).toBe('unknown unknown unknown')
      const transactions = [{ endToEndId: two, ...rejected }]
      expect((await outcomesOf({ transactions })).words).toBe('- unknown -')
    },
  )

  test('a duplicate named above, in words or in a code of the bank is unknown as well', async () => {
    const transactions = [{ endToEndId: one, status: 'RJCT', reasons: [{ code: 'NARR' }] }]
    const above = { status: 'RJCT', reasons: [{ code: 'DU01' }] }
    expect((await outcomesOf({ group: above, transactions })).words).toBe('unknown unknown unknown')
    const inWords = { status: 'RJCT', reasons: [{ code: 'NARR', text: 'Duplicate file' }] }
    expect((await outcomesOf({ group: inWords })).words).toBe('unknown unknown unknown')
    const own = { status: 'CANC', reasons: [{ code: 'XDUPLICATE' }] }
    expect((await outcomesOf({ batch: own })).words).toBe('unknown unknown unknown')
  })

  test('the deepest level that speaks wins', async () => {
    const group = { status: 'RJCT', reasons: [{ code: 'FF01' }] }
    expect((await outcomesOf({ group })).words).toBe('rejected rejected rejected')
    const batch = { status: 'ACCP' }
    expect((await outcomesOf({ group, batch })).words).toBe('accepted accepted accepted')
    const transactions = [
      { endToEndId: one, status: 'ACSC' },
      { endToEndId: two, status: null },
    ]
    const all = await outcomesOf({ group, batch, transactions })
    expect(all.words).toBe('paid accepted accepted')
    expect(all.outcomes.get(two)?.level).toBe('batch')
    const rest = await outcomesOf({ batch: group, transactions })
    expect(rest.words).toBe('paid rejected rejected')
    expect(rest.outcomes.get(three)).toMatchObject({ reasons: [{ code: 'FF01' }], level: 'batch' })
  })

  test('a report without a status says nothing', async () => {
    expect(await outcomesOf({})).toMatchObject({ words: '- - -', breaks: [] })
  })

  const rejected = { status: 'RJCT' }
  const breaks: [string, Parameters<typeof statusReport>[0], string, string[]][] = [
    ['another file', { originalMessageId: 'SXFILE2', group: rejected }, '- - -', ['other_message']],
    ['another batch', { batch: { ...rejected, id: 'BATCH2' } }, '- - -', ['other_batch']],
    ['another count', { group: { ...rejected, count: '4' } }, '- - -', ['sum_differs']],
    ['another sum', { group: { ...rejected, sum: '30.02' } }, '- - -', ['sum_differs']],
    ['a sum in words', { group: { ...rejected, sum: 'many' } }, '- - -', ['sum_differs']],
    ['another sum of the batch', { batch: { ...rejected, sum: '1' } }, '- - -', ['sum_differs']],
    [
      'the right count and sum',
      { group: { ...rejected, count: '3', sum: '30.030' } },
      'rejected rejected rejected',
      [],
    ],
    ['an unknown status', { group: { status: 'XXXX' } }, '- - -', Array(3).fill('unknown_status')],
    [
      'an unknown status of one payment',
      { group: rejected, transactions: [{ endToEndId: two, status: 'XXXX' }] },
      'rejected - rejected',
      ['unknown_status'],
    ],
    [
      'an unknown payment, so that the whole is not sure to be this file',
      { group: rejected, transactions: [{ endToEndId: 'OTHER', status: 'ACSP' }] },
      '- - -',
      ['unknown_item'],
    ],
    [
      'another amount',
      { group: rejected, transactions: [{ endToEndId: one, amount: '10.01', ...rejected }] },
      '- - -',
      ['amount_differs'],
    ],
    [
      'the right amount',
      { transactions: [{ endToEndId: one, amount: '10.000', ...rejected }] },
      'rejected - -',
      [],
    ],
    [
      'the ids of two payments in one',
      { transactions: [{ endToEndId: one, instructionId: two, ...rejected }] },
      '- - -',
      ['contradiction'],
    ],
    [
      'two words on one payment',
      {
        transactions: [
          { endToEndId: one, ...rejected },
          { endToEndId: one, status: 'ACSC' },
          { endToEndId: one, ...rejected },
          { endToEndId: two, status: 'ACSC' },
        ],
      },
      '- paid -',
      ['contradiction'],
    ],
    [
      'a payment named by its instruction only',
      { transactions: [{ endToEndId: 'NOTPROVIDED', instructionId: three, ...rejected }] },
      '- - rejected',
      [],
    ],
  ]
  test.each(breaks)('%s', async (_, parts, words, expected) => {
    expect(await outcomesOf(parts)).toMatchObject({ words, breaks: expected })
  })

  test('a payment that is named twice keeps both reasons', async () => {
    const named = { endToEndId: one, status: 'RJCT' }
    const transactions = [
      { ...named, reasons: [{ code: 'DU01' }] },
      { ...named, reasons: [{ code: 'AC04' }] },
    ]
    expect(await outcomesOf({ transactions })).toMatchObject({ words: 'unknown - -', breaks: [] })
  })

  test('a refusal of all is doubtful once the bank has spoken of a payment before', () => {
    const all = { outcome: 'rejected', level: 'group' } as const
    const states = ['waiting', 'rejected', 'accepted', 'unknown', 'paid']
    expect(states.map((state) => inDoubt(all, state).outcome)).toEqual([
      ...['rejected', 'rejected', 'unknown', 'unknown', 'unknown'],
    ])
    const single = { outcome: 'rejected', level: 'transaction' } as const
    expect(inDoubt(single, 'accepted')).toBe(single)
  })

  test('another currency is another amount', async () => {
    const transactions = [{ endToEndId: one, ...rejected, amount: '10.00', currency: 'USD' }]
    expect(await outcomesOf({ transactions })).toMatchObject({ breaks: ['amount_differs'] })
  })

  test('what was written as a payment file is found in a report about it', async () => {
    const item = euroItem()
    const file = { ...sent, items: [item] }
    const transactions = [{ endToEndId: item.code, instructionId: item.code, status: 'ACSC' }]
    const { outcomes } = itemOutcomes(await read({ transactions }), file)
    expect(outcomes.get(item.code)?.outcome).toBe('paid')
  })
})
