import type { Agent } from '../agents/agent.ts'
import {
  type LimitField,
  type LimitMeasure,
  type LimitOutcome,
  type LimitPeriod,
  type LimitRule,
  type LimitSubject,
  limitFields,
  limitMeasures,
  limitOutcomes,
  limitPeriods,
  limitSubjects,
  listedValue,
} from '../ledger/limits.ts'
import { findBank } from '../lib/banks.ts'
import { type Currency, currencies, decimalText, parseDecimal } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import type { FieldError } from '../lib/problem.ts'

/** A rule as people write it, in the console and on the command line. */
export interface LimitForm {
  name: string
  kind: string
  measure: string
  per?: string | null | undefined
  period?: string | null | undefined
  /** An amount in decimals, or a number of orders. */
  most?: string | null | undefined
  currency?: string | null | undefined
  hours?: number | null | undefined
  field?: string | null | undefined
  outcome: string
  values?: readonly string[] | null | undefined
}

export const mostListed = 2_000

/** Reads a rule for an agent, or for each agent; returns everything that is wrong with it instead. */
export function readLimitForm(
  form: LimitForm,
  agent: Pick<Agent, 'agentId' | 'currency'> | null,
): { rule: LimitRule & { values: string[] } } | { faults: FieldError[] } {
  const faults: FieldError[] = []
  const fault = (field: string, message: string) => faults.push({ field, message })
  const one = <T extends string>(
    field: string,
    values: readonly T[],
    text: string | null | undefined,
  ): T | undefined => {
    const found = values.find((each) => each === text)
    if (found === undefined) fault(field, `must be one of ${values.join(', ')}`)
    return found
  }
  const none = (...names: (keyof LimitForm)[]) => {
    for (const name of names) {
      const given = form[name]
      if (given != null && !(Array.isArray(given) && given.length === 0)) {
        fault(name, `does not go with ${form.measure}`)
      }
    }
  }
  if (!/^[a-z0-9][a-z0-9-]{1,39}$/.test(form.name)) {
    fault('name', 'must be 2 to 40 small letters, digits and hyphens')
  }
  const kind = one('kind', ['deposit', 'withdraw'] as const, form.kind)
  const measure = one<LimitMeasure>('measure', limitMeasures, form.measure)
  const outcome = one<LimitOutcome>('outcome', limitOutcomes, form.outcome)
  let per: LimitSubject | undefined
  let period: LimitPeriod | undefined
  let currency: Currency | undefined
  let most: bigint | undefined
  let field: LimitField | undefined
  let values: string[] = []
  if (measure === 'amount' || measure === 'orders') {
    none('hours', 'field', 'values')
    per = one<LimitSubject>('per', limitSubjects, form.per)
    period = one<LimitPeriod>('period', limitPeriods, form.period)
    if (measure === 'orders' && period === 'order') fault('period', 'must be hour, day or month')
    if (measure === 'amount') {
      currency = agent ? agent.currency : currencies.find((each) => each === form.currency)
      if (agent && form.currency != null && form.currency !== agent.currency) {
        fault('currency', `must be the agent's, ${agent.currency}`)
      }
      if (!currency) fault('currency', 'must be named in a rule for each agent')
      most = currency && parseDecimal(form.most ?? '', currency)
    } else {
      none('currency')
      most = /^\d{1,9}$/.test(form.most ?? '') ? BigInt(form.most ?? '') : undefined
    }
    if (most === undefined || most < 0n) {
      fault('most', measure === 'amount' ? 'must be an amount' : 'must be a number of orders')
    }
  } else if (measure === 'new_account') {
    none('per', 'period', 'most', 'currency', 'field', 'values')
    if (kind === 'deposit') fault('kind', 'must be withdraw: it is about accounts that are paid')
    if (outcome === 'refuse') fault('outcome', 'must not be refuse: no account would ever be paid')
  } else if (measure !== undefined) {
    none('per', 'period', 'most', 'currency', 'hours')
    field = one<LimitField>('field', limitFields, form.field)
    const given = form.values ?? []
    if (given.length > mostListed) fault('values', `must be at most ${mostListed}`)
    const listed = field
    values = listed ? [...new Set(given.map((text) => valueIn(listed, text, agent)))] : []
    if (values.some((value) => value === '' || !isPrintable(value, 200))) {
      fault('values', 'must each be 1 to 200 printable characters')
    }
    if (values.length === 0) fault('values', 'must name at least one')
  }
  const isWait = outcome === 'wait'
  if (isWait && measure !== undefined && measure !== 'new_account') {
    fault('outcome', 'wait goes with new_account')
  }
  if (isWait !== (form.hours != null) && measure === 'new_account') {
    fault('hours', isWait ? 'must say how long it waits' : 'goes with the outcome wait')
  }
  if (
    form.hours != null &&
    !(Number.isInteger(form.hours) && form.hours >= 1 && form.hours <= 720)
  ) {
    fault('hours', 'must be 1 to 720')
  }
  if (outcome === 'hold' && kind === 'deposit') {
    fault('outcome', 'must not be hold: a deposit is not paid out')
  }
  if (faults.length > 0 || !kind || !measure || !outcome) return { faults }
  return {
    rule: {
      agentId: agent?.agentId ?? 0n,
      name: form.name,
      kind,
      measure,
      per: per ?? null,
      period: period ?? null,
      most: most ?? null,
      currency: currency ?? null,
      hours: form.hours ?? null,
      field: field ?? null,
      outcome,
      values: values.sort(),
    },
  }
}

/**
 * Keeps the canonical code of a bank where the currency is known. In a rule for each agent the code stays as it was
 * written: which bank it names depends on the order's currency.
 */
function valueIn(field: LimitField, text: string, agent: Pick<Agent, 'currency'> | null): string {
  if (!agent || (field !== 'bank' && field !== 'account')) return listedValue(field, text)
  const canonical = (code: string) => findBank(agent.currency, code.trim())?.code ?? code
  if (field === 'bank') return listedValue(field, canonical(text))
  const [bank, number] = text.split(':', 2)
  if (number === undefined) return listedValue(field, text)
  return listedValue(field, `${canonical(bank ?? '')}:${number}`)
}

/** The limit of a rule as people write it. */
export function mostText({ most, currency }: Pick<LimitRule, 'most' | 'currency'>): string | null {
  if (most === null) return null
  return currency === null ? most.toString() : decimalText(most, currency)
}

const ends: Record<LimitOutcome, string> = {
  refuse: 'others are refused',
  hold: 'others wait for a person',
  wait: 'others wait',
  note: 'others are noted',
}

/** A rule in a sentence. */
export function ruleInWords(rule: LimitRule): string {
  const what = rule.kind === 'deposit' ? 'Deposits' : 'Withdrawals'
  const { measure, per, period, outcome, field, hours } = rule
  const whose = per === null || per === 'agent' ? '' : ` for one ${per}`
  switch (measure) {
    case 'amount':
    case 'orders': {
      const most =
        measure === 'amount' ? `${mostText(rule)} ${rule.currency}` : `${rule.most} orders`
      const during = period === 'order' || period === 'hour' ? `an ${period}` : `a ${period}`
      return `${what}: at most ${most} ${during}${whose}; ${ends[outcome]}`
    }
    case 'new_account': {
      const then = {
        wait: `wait ${hours} hours`,
        hold: 'wait for a person',
        note: 'are noted',
        refuse: 'are refused',
      }[outcome]
      return `Withdrawals to an account that was never paid before ${then}`
    }
    case 'blocked':
      return `${what}: ${field} must not be on the list; ${ends[outcome]}`
    case 'allowed':
      return `${what}: ${field} must be on the list; ${ends[outcome]}`
  }
}
