import type { Agent } from '../../agents/agent.ts'
import { findBrand, logoUrl, parseColour } from '../../agents/agent-brand.ts'
import type { Order } from '../../ledger/book.ts'
import { sampleBankCode } from '../../lib/banks.ts'
import { currencyRow } from '../../lib/currencies.ts'
import { publicPath } from '../app.ts'
import { invalidRequest } from '../check.ts'
import { readAssets } from '../payment-page/assets.ts'
import { chooseLanguage } from '../payment-page/language.ts'
import { paymentPage } from '../payment-page/page.ts'
import { AgentParams } from './agents.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { PagePreviewQuery } from './schemas/agents.ts'
import { agentNamed } from './scope.ts'

/** Nothing can be paid with it: it is a picture of a page. */
const sampleCode = 'A sample: nothing can be paid with it.'
const minutesLeft = 15

/** `GET /agents/:app_id/payment-page`: the payment page as a payer would see it, of an order that does not exist. */
export function pagePreviewRoute(api: OperatorApi, { desk, mode, timeZone }: OperatorDeps): void {
  const assets = readAssets()
  operatorRoute(api, {
    method: 'GET',
    url: '/agents/:app_id/payment-page',
    summary: "An agent's payment page with a made-up order, to be shown in a frame of the console",
    tag: 'Agents',
    permission: 'view',
    agents: 'own',
    schema: {
      params: AgentParams,
      querystring: PagePreviewQuery,
      response: { status: 200, type: 'text/html' },
    },
    handler: async ({ operator, params, query, reply }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const saved = await findBrand(desk.pool, agent.agentId)
      const colour = query.colour === undefined ? saved.colour : parseColour(query.colour)
      if (colour === undefined) {
        throw invalidRequest([{ field: 'colour', message: 'must be a colour such as #0a7d4f' }])
      }
      const root = publicPath(desk.publicUrl())
      const page = paymentPage({
        place: {
          ...{
            root,
            base: '',
            askedLanguage: undefined,
            parentOrigin: undefined,
            frameOrigins: [],
          },
          language: chooseLanguage(query.lang, undefined),
        },
        assets,
        shown: {
          ...{ agent, brand: { ...saved, colour }, order: sampleOrder(agent, desk.now()) },
          ...{ state: 'waiting', remainingS: minutesLeft * 60, about: undefined, others: [] },
        },
        ways: {
          qrcodeText: sampleCode,
          transfer: {
            ...{ bankCode: sampleBankCode(agent.currency), accountNumber: '000-0-00000-0' },
            accountName: agent.name,
          },
        },
        timeZone,
        isSandbox: mode === 'sandbox',
        returnUrl: undefined,
        preview: { logo: saved.logo && logoUrl(saved.logo) },
      })
      const policy = page.headers['content-security-policy']?.replace(
        /script-src [^;]*; |frame-ancestors .*$/g,
        '',
      )
      return reply
        .headers(page.headers)
        .header(
          'content-security-policy',
          `${policy}frame-ancestors 'self'; sandbox allow-same-origin`,
        )
        .header('x-frame-options', 'SAMEORIGIN')
        .send(page.html)
    },
  })
}

function sampleOrder(agent: Agent, now: Date): Order {
  const { agentId, currency } = agent
  const nothing = {
    ...{ refundOf: null, payableMinor: null, lateMoney: null, reserveRule: null, revertFee: null },
    ...{ extraParams: null, completedAt: null, paidAmountMinor: null, paidFeeMinor: null },
    ...{
      releaseAt: null,
      provider: null,
      providerRef: null,
      handedOverAt: null,
      instructions: null,
    },
  }
  return {
    ...nothing,
    ...{ agentId, orderId: '0'.repeat(32), kind: 'deposit', refId: 'SAMPLE-1', userId: 'sample' },
    ...{ currency, amountMinor: 1_000n * 10n ** BigInt(currencyRow(currency).decimals) },
    ...{ feeMinor: 0n, feeRule: '0', accountName: '', accountNo: '', bankCode: '' },
    ...{ status: 'WAITING', version: 1, answer: '{}', createdAt: now },
    expiresAt: new Date(now.getTime() + minutesLeft * 60_000),
  }
}
