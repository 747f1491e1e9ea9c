import { banksOf, findBank, sampleBankCode } from '../../lib/banks.ts'
import type { DepositToCollect, Payout } from '../provider.ts'
import type { ConnectorDocument } from './connector-document.ts'
import { depositValues, payoutValues } from './order-values.ts'
import type { Asked } from './read-answer.ts'
import { type RenderedRequest, renderRequest } from './render-request.ts'
import { NoSecret, type Secrets } from './signed-bytes.ts'
import { CannotRender, type Values } from './template.ts'

export const requestCalls = ['expectDeposit', 'askDeposit', 'submitPayout', 'askPayout'] as const
type RequestCall = (typeof requestCalls)[number]

/**
 * Makes every request of a document, signed, of an order like that of the samples. One that cannot be made would be found
 * out by the first order that needs it.
 */
export function sampleRequests(
  document: ConnectorDocument,
  asked: Asked,
  secrets: Secrets,
  now: Date,
): { call: RequestCall; made: RenderedRequest | string }[] {
  const around = {
    now,
    nonce: '0'.repeat(32),
    noticeUrl: 'https://sluice.example/providers/sample/notices',
    publicUrl: 'https://sluice.example',
  }
  return requestCalls.flatMap((call) => {
    const request = document[call]?.request
    if (!request) return []
    const isPayout = call === 'submitPayout' || call === 'askPayout'
    const values = isPayout
      ? payoutValues(document, samplePayout(document, asked), around)
      : depositValues(document, sampleDeposit(document, asked, now), around)
    // Whatever the agent would send.
    const all: Values = (name) => {
      if (name === 'payee.id') return asked.payeeId ?? 'sample'
      return name.startsWith('extra.') ? 'sample' : values(name)
    }
    const signing = { secrets, ...around, accessToken: 'sample' }
    try {
      const made = renderRequest(document, request, all, signing)
      return [{ call, made: URL.canParse(made.url) ? made : `its address is none: ${made.url}` }]
    } catch (error) {
      if (error instanceof CannotRender || error instanceof NoSecret) {
        return [{ call, made: error.message }]
      }
      throw error
    }
  })
}

function samplePayout(document: ConnectorDocument, asked: Asked): Payout {
  const theirId = asked.theirId ?? 'sample'
  return { ...asked, theirId, payee: sampleParty(document, asked), extraParams: null }
}

function sampleDeposit(document: ConnectorDocument, asked: Asked, now: Date): DepositToCollect {
  const { reference, amountMinor, currency, theirId } = asked
  return {
    txnId: reference,
    code: reference,
    amountMinor,
    currency,
    expiresAt: new Date(now.getTime() + 900_000),
    payer: sampleParty(document, asked),
    extraParams: null,
    theirId: theirId ?? 'sample',
  }
}

/** Somebody at a bank that the company serves. */
function sampleParty({ banks = {} }: ConnectorDocument, { currency }: Asked): Payout['payee'] {
  const served = Object.keys(banks)
  const codes = served.length > 0 ? served : banksOf(currency).map(({ code }) => code)
  const numbered = codes.find((code) => findBank(currency, code)?.numericCode)
  const bankCode = numbered ?? codes[0] ?? sampleBankCode(currency)
  return { accountNo: '1234567890', accountName: 'Sample', bankCode }
}
