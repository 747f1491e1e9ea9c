import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { currencies, decimalText } from '../../lib/money.ts'
import type {
  DepositInstructions,
  DepositOutcome,
  DepositToCollect,
  Payout,
  PayoutOutcome,
  Provider,
} from '../provider.ts'
import { type BankAnswer, reasonIn, SandboxBank } from './bank-client.ts'
import { readBankNotice } from './bank-notice.ts'
import { storyFault, storyIn } from './story-name.ts'

/**
 * The sandbox bank as a provider, called over HTTP like any other. Nothing it returns can be mistaken for a
 * way to pay real money.
 */
export function makeSandboxProvider(options: { bankUrl: () => string; key: Buffer }): Provider {
  const bank = new SandboxBank(options)
  return {
    name: 'sandbox',
    can: { currencies, deposits: true, payouts: true, idempotentByReference: true },
    faultIn: storyFault,
    // The bank is called about a deposit only if its story has the bank act on it.
    depositInstructions: (deposit) =>
      storyIn(deposit.extraParams) === null ? instructionsFor(deposit) : undefined,
    expectDeposit: (deposit, signal) => expectDeposit(bank, deposit, signal),
    isReadyFor: ({ extraParams }) => storyIn(extraParams) !== 'queued',
    submitPayout: (payout, signal) => submitPayout(bank, payout, signal),
    askPayout: (payout, signal) => askPayout(bank, payout, signal),
    readNotice: (body, headers, now) =>
      readBankNotice(options.key, body, headers['x-bank-signature'], now),
  }
}

function instructionsFor({
  txnId,
  amountMinor,
  currency,
}: Pick<DepositToCollect, 'txnId' | 'amountMinor' | 'currency'>): DepositInstructions {
  return {
    qrcodeText:
      `SLUICE SANDBOX - NOT A PAYMENT ${txnId} ${decimalText(amountMinor, currency)} ${currency}`.toUpperCase(),
    transfer: {
      bankCode: 'SANDBOX',
      accountNumber: `TEST${txnId.slice(-8).toUpperCase()}`,
      accountName: 'SANDBOX NOT A REAL ACCOUNT',
    },
  }
}

const Text = Type.String({ minLength: 1, maxLength: 500 })
const instructions = Compile(
  Type.Object({
    qrcodeText: Text,
    transfer: Type.Object({ bankCode: Text, accountNumber: Text, accountName: Text }),
  }),
)

async function expectDeposit(
  bank: SandboxBank,
  deposit: DepositToCollect,
  signal: AbortSignal,
): Promise<DepositOutcome> {
  const { txnId, amountMinor, currency, expiresAt, payer, extraParams } = deposit
  const { accountNo, accountName, bankCode } = payer
  const body = {
    amount: decimalText(amountMinor, currency),
    currency,
    expiresAt: expiresAt.toISOString(),
    payer: { accountNo, accountName, bankCode },
    story: storyIn(extraParams),
  }
  const path = `/deposits/${encodeURIComponent(txnId)}`
  const answer = await bank.call('PUT', path, body, signal).catch(toReason)
  if (typeof answer === 'string') return { type: 'unknown', reason: answer }
  if (answer.status === 200) {
    if (instructions.Check(answer.json)) {
      return { type: 'accepted', instructions: answer.json }
    }
    return { type: 'unknown', reason: 'the bank answered what cannot be read' }
  }
  // These statuses mean that the bank has examined and refused the deposit; any other may be temporary.
  const type = [400, 409].includes(answer.status) ? 'rejected' : 'unknown'
  return { type, reason: refusalIn(answer) }
}

async function submitPayout(
  bank: SandboxBank,
  { reference, amountMinor, currency, payee, extraParams }: Payout,
  signal: AbortSignal,
): Promise<PayoutOutcome> {
  const { accountNo, accountName, bankCode } = payee
  const body = {
    amount: decimalText(amountMinor, currency),
    currency,
    payee: { accountNo, accountName, bankCode },
    story: storyIn(extraParams),
  }
  const path = `/payouts/${encodeURIComponent(reference)}`
  const answer = await bank.call('PUT', path, body, signal).catch(toReason)
  return typeof answer === 'string' ? { type: 'unknown', reason: answer } : outcomeIn(answer)
}

async function askPayout(
  bank: SandboxBank,
  { reference }: Payout,
  signal: AbortSignal,
): Promise<PayoutOutcome> {
  const path = `/payouts/${encodeURIComponent(reference)}`
  const answer = await bank.call('GET', path, undefined, signal).catch(toReason)
  if (typeof answer === 'string') return { type: 'unknown', reason: answer }
  // Only the bank's own answer counts: a 404 from a proxy says nothing about the payout.
  if (answer.status === 404 && reasonIn(answer.json) !== undefined) return { type: 'not_found' }
  return outcomeIn(answer)
}

/** Reads the payout's state from an answer. Anything that is not explicit is unknown. */
function outcomeIn(answer: BankAnswer): PayoutOutcome {
  if (answer.status !== 200) return { type: 'unknown', reason: refusalIn(answer) }
  const said = typeof answer.json === 'object' && answer.json !== null ? answer.json : {}
  const state = 'state' in said ? said.state : undefined
  switch (state) {
    case 'accepted':
    case 'paid':
    case 'returned':
    case 'cancelled':
      return { type: state }
    case 'rejected': {
      const reason = reasonIn(said)
      if (reason === undefined) break
      const mayTryAnother = 'mayTryAnother' in said && said.mayTryAnother === true
      return { type: 'rejected', reason, mayTryAnother }
    }
  }
  return { type: 'unknown', reason: 'the bank answered what cannot be read' }
}

function refusalIn({ status, json }: BankAnswer): string {
  const reason = reasonIn(json)
  return `the bank answered ${status}${reason === undefined ? '' : `: ${reason}`}`
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
