import type { Body } from '../../api.ts'
import { locale, plainNumber } from '../../languages/language.ts'
import type { api } from '../../paths.ts'
import type { AgentDetail } from './agent-detail.ts'
import { agentTerms } from './agent-terms.ts'
import { agentWords } from './agent-words.ts'

type Change = Body<typeof api.changeAgent>
export type TermName = Exclude<
  keyof Change,
  'updated_at' | 'reason' | 'code' | 'deposit_callback' | 'withdraw_callback'
>

export interface TermField {
  name: TermName
  kind: 'text' | 'optional' | 'number' | 'choice' | 'lines' | 'picture'
  choices?: readonly string[]
}

/** The kind of input for a term. */
const typedAs = {
  text: 'text',
  fee: 'text',
  optional: 'optional',
  units: 'number',
  whole: 'number',
  choice: 'choice',
  list: 'lines',
} as const

/** The payment page's colour and logo are stored apart from the other terms. */
const looks: TermField[] = [
  { name: 'colour', kind: 'optional' },
  { name: 'logo', kind: 'picture' },
]

const fieldsOf = (group: keyof typeof agentWords.groups): TermField[] =>
  agentTerms.flatMap((term) => (term.group === group ? { ...term, kind: typedAs[term.kind] } : []))

/** The terms, grouped by subject. The service validates the input. */
export const termGroups: [title: string, fields: TermField[]][] = [
  [agentWords.groups.fees, fieldsOf('fees')],
  [agentWords.groups.settlement, fieldsOf('settlement')],
  [agentWords.groups.limits, fieldsOf('limits')],
  [agentWords.groups.page, [...fieldsOf('page'), ...looks]],
  [agentWords.groups.access, fieldsOf('access')],
]

const termFields = termGroups.flatMap(([, fields]) => fields)

export type Typed = Record<TermName, string>

export function typedFrom(agent: AgentDetail): Typed {
  const text = (value: AgentDetail[TermName]) =>
    Array.isArray(value)
      ? value.join('\n')
      : typeof value === 'number'
        ? value.toLocaleString(locale)
        : (value ?? '')
  return Object.fromEntries(termFields.map(({ name }) => [name, text(agent[name])])) as Typed
}

export function changedFields(agent: AgentDetail, typed: Typed): TermField[] {
  const before = typedFrom(agent)
  return termFields.filter(({ name }) => typed[name] !== before[name])
}

/** Only the changed terms, in the service's format. */
export function changesIn(agent: AgentDetail, typed: Typed): Partial<Change> {
  const changed = changedFields(agent, typed)
  return Object.fromEntries(changed.map((field) => [field.name, parsed(field, typed[field.name])]))
}

/** A term as readable text. (A logo is displayed as a picture instead.) */
export function termText({ kind }: TermField, text: string): string {
  if (text === '') return '–'
  return kind === 'choice' ? (agentWords.choices[text] ?? text) : text
}

function parsed({ kind }: TermField, text: string): string | number | string[] | null {
  switch (kind) {
    case 'number':
      return Number(plainNumber(text.replace(/\s/g, '')))
    case 'lines':
      return text.split(/\s+/).filter((line) => line !== '')
    case 'optional':
    case 'picture':
      return text.trim() || null
    case 'text':
    case 'choice':
      return text.trim()
  }
}

export const termWords = agentWords.terms
