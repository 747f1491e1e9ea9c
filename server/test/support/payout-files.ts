import type { BankAccountTerms } from '../../src/bank-accounts/bank-account-terms.ts'
import { saveRoute } from '../../src/routing/providers.ts'
import { makeAccount, routed, type TestAccount } from './bank-accounts.ts'
import type { AgentClient, Answer, TestClock, TestService } from './service.ts'

const banks =
  'BBL KTB JPM MUFG TTB SCB CITI SMBC SCBT CIMBT UOBT BAY MEGA BOA CACIB GSB HSBC DB GHB BAAC EXIM MHCB ISBT TISCO KKP ICBCT LHB BNPP BOC TCD SME'.split(
    ' ',
  )
const used = new WeakMap<TestService, number>()

/** An account that pays out by files, and the bank that only it pays to. */
export interface PayingAccount extends TestAccount {
  name: string
  bank: string
}

/** Makes an account that gets the withdrawals to one bank, and no deposits. */
export async function payingAccount(
  s: TestService,
  terms: Partial<BankAccountTerms> = {},
  sftpKey: string | null = null,
): Promise<PayingAccount> {
  const at = used.get(s) ?? 0
  const bank = banks[at]
  used.set(s, at + 1)
  if (bank === undefined) throw new Error('no bank is left')
  const made = await makeAccount(
    s,
    { payout: 'file', payoutFormat: 'pain.001.001.09', payoutTrustsPaid: true, ...terms },
    { isOff: true, sftpKey },
  )
  const { name, currency } = made.account
  const common = { provider: name, currency, preference: 1, weight: 1 }
  const all = { minAmount: 1n, maxAmount: 10_000_000n, banks: [bank] }
  await saveRoute(s.backend.pool, { ...common, ...all, name: 'out', direction: 'withdraw' })
  const none = { minAmount: 9_999_999n, maxAmount: 9_999_999n, banks: null }
  await saveRoute(s.backend.pool, { ...common, ...none, name: 'in', direction: 'deposit' })
  await s.sql('delete from providers where name = $1', [name])
  await routed(s, name)
  return { ...made, name, bank }
}

/** Withdrawals of an agent to the account's bank. Returns their ids. */
export async function withdrawals(
  s: TestService,
  agent: AgentClient,
  { bank }: PayingAccount,
  ...amounts: number[]
): Promise<string[]> {
  const ids: string[] = []
  for (const amount of amounts) {
    // The oldest comes first, by its id.
    s.clock.advance(1)
    const { status, text, json } = await agent.withdraw({ amount, bankCode: bank })
    if (status !== 201) throw new Error(text)
    ids.push(json.txn_id)
  }
  return ids
}

export interface StatusSaid {
  code: string
  status: string
  reason?: string
}

/** A pain.002 of a bank about a file of ours. */
export function pain002(
  messageId: string,
  said: { group?: string; reason?: string; items?: StatusSaid[] },
): string {
  const because = (reason: string | undefined) =>
    reason === undefined ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`
  const items = (said.items ?? [])
    .map(
      ({ code, status, reason }) =>
        `<TxInfAndSts><OrgnlInstrId>${code}</OrgnlInstrId><OrgnlEndToEndId>${code}</OrgnlEndToEndId><TxSts>${status}</TxSts>${because(reason)}</TxInfAndSts>`,
    )
    .join('')
  const group = said.group === undefined ? '' : `<GrpSts>${said.group}</GrpSts>`
  const payments =
    items === ''
      ? ''
      : `<OrgnlPmtInfAndSts><OrgnlPmtInfId>${messageId}</OrgnlPmtInfId>${items}</OrgnlPmtInfAndSts>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>B1</MsgId><CreDtTm>2026-11-17T10:00:00</CreDtTm></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>${messageId}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group}${because(said.reason)}</OrgnlGrpInfAndSts>${payments}</CstmrPmtStsRpt></Document>`
}

/** The items of a file's answer as `code state`, or by another field. */
export function statesOf({ json }: Answer): string[] {
  return json.items.map((item: { state: string }) => item.state)
}

const dayMs = 86_400_000

/** Goes on to the next three o'clock, ten in Bangkok: what then takes less than hours happens on one day of the bank. */
export function goToMorning(clock: TestClock): void {
  const now = clock().getTime()
  const three = Math.floor(now / dayMs) * dayMs + 3 * 3_600_000
  clock.advance((three > now ? three : three + dayMs) - now)
}
