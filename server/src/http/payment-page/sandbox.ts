import type { Trigger } from '../../orders/trigger.ts'
import type { Words } from './words/english.ts'

interface SandboxPayment {
  outcome: string
  label: keyof Words
  amountMinor: bigint
  trigger: Trigger
}

const anotherAccount = '9990001234'

/** The outcomes that the buttons of a sandbox page trigger at the bank. */
export function sandboxPayments(amountMinor: bigint): SandboxPayment[] {
  const tenth = amountMinor / 10n || 1n
  const payment = (
    outcome: string,
    label: keyof Words,
    paidMinor: bigint,
    payerAccountNo?: string,
  ): SandboxPayment => ({
    outcome,
    label,
    amountMinor: paidMinor,
    trigger: {
      outcome: 'PAID',
      paidAmountMinor: paidMinor === amountMinor ? undefined : paidMinor,
      payerAccountNo,
    },
  })
  const all = [
    payment('pay', 'sandboxPay', amountMinor),
    payment('less', 'sandboxLess', amountMinor - tenth),
    payment('more', 'sandboxMore', amountMinor + tenth),
    payment('other', 'sandboxOther', amountMinor, anotherAccount),
    {
      outcome: 'fail',
      label: 'sandboxFail' as const,
      amountMinor,
      trigger: {
        outcome: 'FAILED' as const,
        paidAmountMinor: undefined,
        payerAccountNo: undefined,
      },
    },
  ]
  return all.filter((each) => each.amountMinor > 0n)
}
