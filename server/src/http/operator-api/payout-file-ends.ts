import { jsonText } from '../../lib/json-text.ts'
import { decimalText } from '../../lib/money.ts'
import { abandonFile, readAbandoned } from '../../payout-files/abandon-file.ts'
import { endItems } from '../../payout-files/item-ends.ts'
import {
  type PayoutFile,
  type PayoutItem,
  readList,
  sumOf,
} from '../../payout-files/payout-file.ts'
import { resealFile } from '../../payout-files/reseal-file.ts'
import { readTakeOut, takeOut } from '../../payout-files/take-out.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { fileNamed, viewOf } from './payout-files.ts'
import {
  AbandonPayoutFile,
  PayoutFileDetail,
  PayoutFileParams,
  ReasonAndCode,
  TakeOutOfPayoutFile,
  takeOutLimit,
} from './schemas/payout-files.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** What people end of a payout file, and not the bank: payouts that are taken out, and what the bank has not paid. */
export function payoutFileEndRoutes(api: OperatorApi, { desk }: OperatorDeps): void {
  const { pool, now } = desk
  const make = {
    tag: 'Payout files',
    agents: 'none',
    permission: 'make_payout_files',
    method: 'POST',
  } as const
  const shown = async (id: string) => jsonText(await viewOf(desk, await fileNamed(pool, id)))
  /** If this breaks off, a worker goes on. */
  const end = (file: PayoutFile) =>
    endItems(desk, file, api.approvals.onError).catch(api.approvals.onError)

  operatorRoute(api, {
    ...make,
    url: '/payout-files/:id/reseal',
    summary:
      'Have a file sealed again for a later day, before anybody has it: it is approved again',
    schema: { params: PayoutFileParams, body: ReasonAndCode, response: PayoutFileDetail },
    handler: async ({ operator, params, body }) => {
      await resealFile(desk, await fileNamed(pool, params.id), body.reason, operator)
      return shown(params.id)
    },
  })

  twoPersonRoute(api, {
    ...make,
    url: '/payout-files/:id/take-out',
    summary: 'Take payouts out of a file that nobody has downloaded; the rest is approved again',
    bodyLimit: takeOutLimit,
    schema: { params: PayoutFileParams, body: TakeOutOfPayoutFile, response: PayoutFileDetail },
    approval: {
      action: 'take_out_payouts',
      repeats: 'effect',
      view: async ({ params, body }) => {
        const file = await fileNamed(pool, params.id)
        const { out, left } = await readTakeOut(pool, file, body.codes, now())
        const { digest } = await readList(pool, file)
        return {
          ...about(file, out),
          before: { state: file.state, digest, file: inWords(file, [...out, ...left]) },
          after: {
            file: left.length === 0 ? 'nothing: it is cancelled' : inWords(file, left),
            taken_out: inWords(file, out),
            codes: out.map(({ reference }) => reference).join(', '),
            afterwards: body.may_try_another
              ? 'another provider may pay them'
              : 'their orders fail',
          },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const file = await fileNamed(pool, params.id)
      const { codes, may_try_another: mayTryAnother, reason } = body
      await takeOut(desk, file, { codes, mayTryAnother, reason }, operator)
      await end(file)
      return shown(params.id)
    },
  })

  twoPersonRoute(api, {
    ...make,
    url: '/payout-files/:id/abandon',
    summary:
      'Say that the bank has not paid a file, or payouts of it, and never will: the money is given back',
    bodyLimit: takeOutLimit,
    schema: { params: PayoutFileParams, body: AbandonPayoutFile, response: PayoutFileDetail },
    approval: {
      action: 'abandon_payout_file',
      repeats: 'effect',
      view: async ({ params, body }) => {
        const file = await fileNamed(pool, params.id)
        const { items } = await readAbandoned(pool, file, body.codes, now())
        const { sent } = await viewOf(desk, file)
        return {
          ...about(file, items),
          before: { state: file.state, sent },
          after: {
            fails: inWords(file, items),
            codes: items.map(({ reference }) => reference).join(', '),
            evidence: body.evidence,
          },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const file = await fileNamed(pool, params.id)
      await abandonFile(desk, file, body, operator)
      await end(file)
      return shown(params.id)
    },
  })
}

function inWords({ currency }: PayoutFile, items: readonly PayoutItem[]): string {
  return `${items.length} payouts, ${decimalText(sumOf(items), currency)} ${currency}`
}

function about({ fileId, currency }: PayoutFile, items: readonly PayoutItem[]) {
  return {
    subject: { kind: 'payout_file', id: fileId },
    agentId: null,
    amount: { minor: sumOf(items), currency },
  }
}
