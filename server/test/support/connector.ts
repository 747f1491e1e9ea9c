import { createHmac } from 'node:crypto'
import { lookup } from 'node:dns'
import { currencies } from '../../src/lib/money.ts'
import { AccessTokens } from '../../src/providers/http/access-tokens.ts'
import { CompanyClient } from '../../src/providers/http/company-client.ts'
import { CompanyLane } from '../../src/providers/http/company-lane.ts'
import type { ConnectorDocument } from '../../src/providers/http/connector-document.ts'
import { readDocument } from '../../src/providers/http/document-faults.ts'
import { defaultLimits, makeHttpProvider } from '../../src/providers/http/http-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'

const party = (which: 'payer' | 'payee') => ({
  accountNo: `{${which}.accountNo}`,
  accountName: `{${which}.accountName}`,
  bankCode: `{${which}.bankCode}`,
})

const repeated = {
  reference: '/reference',
  amount: { at: '/amount', as: 'decimal' },
  currency: '/currency',
}

const handOverStates = [
  { if: { status: [200], '/state': ['accepted'] }, means: 'accepted' },
  { if: { status: [200], '/state': ['paid'] }, means: 'paid' },
  {
    name: 'another provider may try',
    if: { status: [200], '/state': ['rejected'], '/mayTryAnother': [true] },
    means: 'rejected',
    reason: '/reason',
    mayTryAnother: true,
  },
  { if: { status: [200], '/state': ['rejected'] }, means: 'rejected', reason: '/reason' },
]

const payoutEvent = (outcome: string, more: object = {}) => ({
  if: { '/type': ['payout'], '/outcome/type': [outcome], ...Object(more).if },
  events: [
    {
      type: 'payout',
      id: ['/id'],
      reference: '/reference',
      outcome,
      ...(outcome === 'rejected' && { reason: '/outcome/reason' }),
      ...Object(more).event,
    },
  ],
})

const ended = (status: string) => ({
  if: { '/type': ['deposit_ended'], '/status': [status] },
  events: [{ type: 'deposit_ended', id: ['/id'], reference: '/reference', status }],
})

/** How the sandbox's bank is spoken to, as a document. */
export function sandboxDocument(base: string) {
  return {
    format: 1,
    company: 'the bank',
    base,
    currencies,
    secrets: { pass: 'what calls are allowed with', hook: 'what notices are signed with, in hex' },
    auth: { kind: 'bearer', token: { secret: 'pass' } },
    expectDeposit: {
      request: {
        method: 'PUT',
        path: '/deposits/{txnId}',
        json: {
          amount: '{amount.decimal}',
          currency: '{currency}',
          expiresAt: '{expiresAt.iso}',
          payer: party('payer'),
          story: '{extra.sandbox}',
        },
      },
      answers: [
        { if: { status: [200] }, means: 'accepted' },
        {
          if: {
            status: [400, 409],
            '/reason': [
              'Another deposit has this reference.',
              'The shape is wrong.',
              'There is no such story.',
              'The amount is not one of this currency.',
            ],
          },
          means: 'rejected',
          reason: '/reason',
        },
      ],
      gives: {
        qrcodeText: '/qrcodeText',
        transfer: {
          bankCode: '/transfer/bankCode',
          accountNumber: '/transfer/accountNumber',
          accountName: '/transfer/accountName',
        },
      },
    },
    submitPayout: {
      request: {
        method: 'PUT',
        path: '/payouts/{reference}',
        json: {
          amount: '{amount.decimal}',
          currency: '{currency}',
          payee: party('payee'),
          story: '{extra.sandbox}',
        },
      },
      echo: repeated,
      answers: handOverStates,
    },
    askPayout: {
      request: { method: 'GET', path: '/payouts/{reference}' },
      echo: repeated,
      answers: [
        ...handOverStates,
        { if: { status: [200], '/state': ['cancelled'] }, means: 'cancelled' },
        { if: { status: [200], '/state': ['returned'] }, means: 'returned' },
        { if: { status: [404], '/reason': ['There is no such payout.'] }, means: 'not_found' },
      ],
    },
    idempotentByReference: true,
    notice: {
      verify: {
        kind: 'hmac',
        hash: 'sha256',
        key: { secret: 'hook', decode: 'hex' },
        over: ['timestamp', { text: '.' }, 'body'],
        encode: 'hex',
        signature: { header: 'x-bank-signature', field: 'v1' },
        timestamp: { in: { header: 'x-bank-signature', field: 't' }, as: 'unix' },
      },
      events: '/events',
      rules: [
        {
          if: { '/type': ['payment'] },
          events: [
            {
              type: 'payment',
              id: ['/id'],
              paymentId: ['/paymentId'],
              reference: '/reference',
              amount: { at: '/amount', as: 'decimal' },
              currency: { at: '/currency' },
              paidAt: { at: '/paidAt', as: 'iso' },
              payer: {
                accountNo: '/payer/accountNo',
                accountName: '/payer/accountName',
                bankCode: '/payer/bankCode',
              },
            },
          ],
        },
        {
          if: { '/type': ['payment_taken_back'] },
          events: [
            {
              type: 'payment_taken_back',
              id: ['/id'],
              paymentId: ['/paymentId'],
              reference: '/reference',
            },
          ],
        },
        ended('FAILED'),
        ended('VOID'),
        ended('EXPIRED'),
        {
          if: { '/type': ['cost'] },
          events: [
            {
              type: 'cost',
              id: ['/id'],
              costId: ['/costId'],
              reference: '/reference',
              amount: { at: '/amount', as: 'decimal' },
              currency: { at: '/currency' },
            },
          ],
        },
        payoutEvent('accepted'),
        payoutEvent('paid'),
        payoutEvent('cancelled'),
        payoutEvent('returned'),
        payoutEvent('rejected', {
          if: { '/outcome/mayTryAnother': [true] },
          event: { mayTryAnother: true },
        }),
        payoutEvent('rejected'),
      ],
    },
  }
}

const order = { reference: 'SX0000000000A', amount: '100.50', currency: 'THB' }
const refusal = { state: 'rejected', reason: 'no' }

/** An answer about a payout, and what it must be read as. */
const answered = (name: string, call: string, body: object, ...expect: string[]) => ({
  name,
  call,
  body: { ...order, ...body },
  expect,
})

/** A notice of one event, and what it must be read as. */
const told = (name: string, event: object, ...expect: string[]) => ({
  name,
  call: 'notice',
  body: { events: [{ id: `evt-${name}`, reference: '7-1', ...event }] },
  expect,
})

const outcome = (type: string, more: object = {}) => ({
  type: 'payout',
  reference: order.reference,
  outcome: { type, ...more },
})

/** Samples of what the sandbox's bank says. */
export const sandboxSamples = {
  order,
  samples: [
    {
      name: 'deposit taken',
      call: 'expectDeposit',
      body: {
        qrcodeText: 'QR',
        transfer: { bankCode: 'SANDBOX', accountNumber: '1', accountName: 'A' },
      },
      expect: ['accepted with qrcodeText, transfer'],
    },
    {
      name: 'deposit refused',
      call: 'expectDeposit',
      status: 409,
      body: { reason: 'Another deposit has this reference.' },
      expect: ['rejected'],
    },
    answered('taken', 'submitPayout', { state: 'accepted' }, 'accepted'),
    answered('paid at once', 'submitPayout', { state: 'paid' }, 'paid'),
    answered('refused at once', 'submitPayout', refusal, 'rejected'),
    answered(
      'refused at once, another may try',
      'submitPayout',
      { ...refusal, mayTryAnother: true },
      'rejected, another may try',
    ),
    answered('paid', 'askPayout', { state: 'paid' }, 'paid'),
    answered('cancelled', 'askPayout', { state: 'cancelled' }, 'cancelled'),
    answered('returned', 'askPayout', { state: 'returned' }, 'returned'),
    answered('refused for good', 'askPayout', refusal, 'rejected'),
    answered(
      'refused',
      'askPayout',
      { ...refusal, mayTryAnother: true },
      'rejected, another may try',
    ),
    {
      name: 'not there',
      call: 'askPayout',
      status: 404,
      body: { reason: 'There is no such payout.' },
      expect: ['not_found'],
    },
    told(
      'a payment',
      {
        type: 'payment',
        paymentId: 'pay-1',
        amount: '100.50',
        currency: 'THB',
        paidAt: null,
        payer: null,
      },
      'payment 100.5 THB for 7-1 as pay-1',
    ),
    told(
      'taken back',
      { type: 'payment_taken_back', paymentId: 'pay-1' },
      'payment_taken_back for 7-1 as pay-1',
    ),
    ...['FAILED', 'VOID', 'EXPIRED'].map((status) =>
      told(status, { type: 'deposit_ended', status }, `deposit_ended ${status} for 7-1`),
    ),
    told(
      'a cost',
      { type: 'cost', costId: 'c-1', amount: '1', currency: 'THB' },
      'cost 1 THB for 7-1 as c-1',
    ),
    told('payout paid', outcome('paid'), 'payout paid for SX0000000000A'),
    told('payout cancelled', outcome('cancelled'), 'payout cancelled for SX0000000000A'),
    told('payout returned', outcome('returned'), 'payout returned for SX0000000000A'),
    told(
      'payout refused',
      outcome('rejected', { reason: 'no' }),
      'payout rejected for SX0000000000A',
    ),
    told(
      'payout refused, another may try',
      outcome('rejected', { reason: 'no', mayTryAnother: true }),
      'payout rejected, another may try for SX0000000000A',
    ),
  ],
}

/** An imaginary company, whose answers repeat what was asked. */
export const company = {
  format: 1,
  company: 'Imaginary Pay',
  base: 'https://api.imaginary.example',
  currencies: ['THB'],
  secrets: {},
  expectDeposit: {
    request: { method: 'POST', path: '/payins', json: { ref: '{txnId}' } },
    echo: { reference: '/ref' },
    theirId: '/id',
    answers: [
      { if: { status: [201], '/state': ['OPEN'] }, means: 'accepted' },
      { if: { status: [422], '/code': ['CLOSED'] }, means: 'rejected', reason: '/message' },
    ],
    gives: { link: '/url' },
  },
  askDeposit: {
    request: { method: 'GET', path: '/payins/{theirId}' },
    echo: { reference: '/ref' },
    rules: [
      { if: { status: [200], '/state': ['OPEN'] }, events: [] },
      {
        if: { status: [200], '/state': ['PAID'] },
        events: [
          {
            type: 'payment',
            id: ['/id', '/state'],
            paymentId: ['/id'],
            reference: '/ref',
            amount: { at: '/amount', as: 'decimal' },
            currency: { at: '/currency' },
            paidAt: { at: '/paid_at', as: 'unix' },
          },
        ],
      },
    ],
  },
  submitPayout: {
    request: { method: 'POST', path: '/payouts', json: { ref: '{reference}' } },
    echo: {
      reference: '/ref',
      currency: '/currency',
      amount: { at: '/amount', as: 'decimal' },
    },
    theirId: '/id',
    answers: [
      { if: { status: [200, 201], '/state': ['NEW', 'SENT'] }, means: 'accepted' },
      { if: { status: [200], '/state': ['DONE'], '/flags/final': [true] }, means: 'paid' },
      {
        if: { status: [422], '/code': [4001, 'BANK_NOT_SERVED'] },
        means: 'rejected',
        reason: '/message',
        mayTryAnother: true,
      },
    ],
  },
  askPayout: {
    request: { method: 'GET', path: '/payouts/{reference}' },
    echo: { reference: '/ref' },
    answers: [
      { if: { status: [200], '/state': ['DONE'] }, means: 'paid' },
      { if: { status: [200], '/state': ['FAILED'] }, means: 'rejected' },
      { if: { status: [404], '/code': ['NO_SUCH_PAYOUT'] }, means: 'not_found' },
    ],
  },
}

export function passOf(key: Buffer): string {
  return createHmac('sha256', key).update('requests to the sandbox bank').digest('hex')
}

/** A document that was read, or the reasons why it is none. */
export function documentOf(value: unknown): ConnectorDocument {
  const read = readDocument(JSON.stringify(value))
  if ('document' in read) return read.document
  throw new Error(JSON.stringify(read.faults))
}

export function testClient(): CompanyClient {
  return new CompanyClient({ lookup, urlFault: () => undefined })
}

/** A provider made of a document, without a database. */
export function providerBy(
  document: ConnectorDocument,
  secrets: Record<string, string>,
  more: { lane?: CompanyLane; client?: Pick<CompanyClient, 'send'>; now?: () => Date } = {},
): Provider {
  const client = more.client ?? testClient()
  return makeHttpProvider(
    {
      name: 'company',
      use: 1,
      version: 1,
      sameSince: 1,
      document,
      secrets: (name) => secrets[name],
      formerSecrets: [],
    },
    {
      client,
      tokens: new AccessTokens(client),
      lane: more.lane ?? new CompanyLane(defaultLimits),
      useOf: async () => undefined,
      newestOf: async () => undefined,
      now: more.now ?? (() => new Date()),
      publicUrl: () => 'https://sluice.example',
    },
  )
}

/** The sandbox's bank, spoken to by the document. */
export function sandboxByDocument(options: { bankUrl: () => string; key: Buffer }): Provider {
  const { bankUrl, key } = options
  return providerBy(documentOf(sandboxDocument(bankUrl())), {
    pass: passOf(key),
    hook: key.toString('hex'),
  })
}
